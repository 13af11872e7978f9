/**
 * What a page, a site or Chromium itself does that a person's browser asks its person about. Each is tried in a tab of
 * its own: the tab opens the page at `path`, and runs `run` there as if it had been clicked on.
 */
export type Thing = {
  name: string;
  /** Of the site (prompt-site.ts); left out, a page with nothing on it. */
  path?: string;
  /** The body of an async function of the page, which runs with the activation of a click. */
  run?: string;
  /** What is done once `run` has ended: the tab is reloaded, left or closed, or gets a click of the right button. */
  after?: "reload" | "leave" | "close" | "right_click";
  /** The origin is `https`, with a certificate that nobody signed; `trusted`: the client takes it. */
  certificate?: "unknown" | "trusted";
  /** How a client answers, or gets by without an answer. */
  client?: string;
  /** The service settles it, so the page is told the same on every machine. */
  settled?: true;
};

const asks = (call: string): string =>
  `return await ${call}.then((value) => String(value?.state ?? value ?? "granted") || "none")`;

export const things: Thing[] = [
  { name: "first run, default browser, update", settled: true },
  { name: "`alert`", run: `return String(alert("hello"))`, client: "`Page.handleJavaScriptDialog`" },
  { name: "`confirm`", run: `return String(confirm("sure?"))`, client: "`Page.handleJavaScriptDialog`" },
  { name: "`prompt`", run: `return String(prompt("name?", "nobody"))`, client: "`Page.handleJavaScriptDialog`" },
  {
    name: "`beforeunload`, page left",
    run: `onbeforeunload = (e) => e.preventDefault()`,
    after: "leave",
    client: "`Page.handleJavaScriptDialog`",
  },
  { name: "`beforeunload`, tab closed", run: `onbeforeunload = (e) => e.preventDefault()`, after: "close" },
  { name: "`print`", run: `print(); return "returns"`, settled: true },
  { name: "`print` in a frame", run: `frames[0].print(); return "returns"`, path: "/framed", settled: true },
  { name: "a PDF", path: "/file.pdf" },
  { name: "a PDF that prints itself", path: "/printing.pdf", settled: true },
  { name: "HTTP login, page", path: "/login", client: "`Fetch.enable` with `handleAuthRequests`" },
  {
    name: "HTTP login, `fetch`",
    run: `return String((await fetch("/login")).status)`,
    client: "`Fetch.enable` with `handleAuthRequests`",
  },
  { name: "HTTP login, frame", run: `return await load("/login")`, client: "`Fetch.enable` with `handleAuthRequests`" },
  { name: "reload of a form's answer", path: "/posts", run: `document.forms[0].submit()`, after: "reload" },
  { name: "certificate error", certificate: "unknown", client: "`Security.setIgnoreCertificateErrors`" },
  { name: "client certificate", path: "/certificate", certificate: "trusted" },
  { name: "`mailto:`", run: `location.href = "mailto:a@site.example"; return "returns"`, settled: true },
  { name: "`tel:`", run: `location.href = "tel:+123"; return "returns"`, settled: true },
  { name: "another scheme", run: `location.href = "zoommtg://site.example/join"; return "returns"`, settled: true },
  { name: "another scheme, frame", run: `return await load("zoommtg://site.example/join")`, settled: true },
  {
    name: "`registerProtocolHandler`",
    run: `navigator.registerProtocolHandler("web+thing", "/?%s"); return "returns"`,
    settled: true,
  },
  { name: "notifications", run: asks("Notification.requestPermission()"), client: "`Browser.setPermission`" },
  {
    name: "geolocation",
    run: `return await new Promise((done) => navigator.geolocation.getCurrentPosition(() => done("granted"), () => done("refused")))`,
    client: "`Browser.setPermission`",
  },
  { name: "camera and microphone", run: asks("navigator.mediaDevices.getUserMedia({ video: true, audio: true })") },
  { name: "the picture of a screen", run: asks("navigator.mediaDevices.getDisplayMedia()"), settled: true },
  { name: "MIDI", run: asks("navigator.requestMIDIAccess({ sysex: true })"), client: "`Browser.setPermission`" },
  { name: "clipboard, read", run: asks("navigator.clipboard.readText()"), client: "`Browser.setPermission`" },
  { name: "clipboard, write", run: asks("navigator.clipboard.writeText('x')") },
  { name: "fonts of the machine", run: asks("queryLocalFonts()"), client: "`Browser.setPermission`" },
  { name: "screens", run: asks("getScreenDetails()"), client: "`Browser.setPermission`" },
  { name: "idle time", run: asks("IdleDetector.requestPermission()"), client: "`Browser.setPermission`" },
  { name: "storage that stays", run: asks("navigator.storage.persist()") },
  {
    name: "storage quota",
    run: `return await (async () => { const root = await navigator.storage.getDirectory(); const file = await root.getFileHandle("big", { create: true });
      const to = await file.createWritable(); await to.truncate(2 ** 50); await to.close(); return "granted"; })()`,
  },
  {
    name: "storage access of a frame",
    path: "/framed",
    run: `return await frames[0].eval("document.requestStorageAccess().then(() => 'granted')")`,
  },
  { name: "Bluetooth", run: asks("navigator.bluetooth.requestDevice({ acceptAllDevices: true })") },
  { name: "USB", run: asks("navigator.usb.requestDevice({ filters: [] })") },
  { name: "HID", run: asks("navigator.hid.requestDevice({ filters: [] })") },
  { name: "`showOpenFilePicker`", run: asks("showOpenFilePicker()") },
  { name: "`showSaveFilePicker`", run: asks("showSaveFilePicker()") },
  { name: "`showDirectoryPicker`", run: asks("showDirectoryPicker()") },
  {
    name: "`<input type=file>`",
    run: `field("file").click(); return "returns"`,
    client: "`Page.setInterceptFileChooserDialog`",
  },
  { name: "`<select>`", run: `field("select").showPicker(); return "returns"` },
  { name: "`<input type=date>`", run: `field("date").showPicker(); return "returns"` },
  { name: "`<input type=color>`", run: `field("color").showPicker(); return "returns"` },
  { name: "`<input list>`", run: `field("list").showPicker(); return "returns"` },
  { name: "`EyeDropper`", run: asks("new EyeDropper().open()") },
  { name: "context menu", after: "right_click" },
  { name: "full screen", run: asks("document.documentElement.requestFullscreen()") },
  { name: "pointer lock", run: asks("document.body.requestPointerLock()") },
  { name: "keyboard lock", run: asks("navigator.keyboard.lock()") },
  {
    name: "picture in picture",
    run: asks("documentPictureInPicture.requestWindow().then(() => 'granted')"),
  },
  {
    name: "payment",
    run: asks(
      `new PaymentRequest([{ supportedMethods: "https://pay.example/" }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).show()`,
    ),
  },
  {
    name: "WebAuthn, new key",
    run: asks(
      `navigator.credentials.create({ publicKey: { challenge: new Uint8Array(16), rp: { name: "x" }, user: { id: new Uint8Array(8), name: "x", displayName: "x" }, pubKeyCredParams: [{ type: "public-key", alg: -7 }] } })`,
    ),
    client: "`WebAuthn.enable`",
  },
  {
    name: "WebAuthn, login",
    run: asks("navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16) } })"),
    client: "`WebAuthn.enable`",
  },
  { name: "stored password", run: asks("navigator.credentials.get({ password: true, mediation: 'required' })") },
  {
    name: "login form, offer to save",
    path: "/form",
    run: `field("password").value = "secret"; document.forms[0].submit()`,
  },
  { name: "page in a foreign language", path: "/french" },
  { name: "`share`", run: asks("navigator.share({ title: 'x', text: 'x' })") },
  { name: "download", run: `return await load("/file.bin")` },
  { name: "many downloads", run: `for (let n = 0; n < 5; n++) { await load("/file.bin?" + n); } return "returns"` },
  { name: "download of a program", run: `return await load("/file.exe")` },
  {
    name: "windows without a click",
    run: `await wait(6000); return String(open("/") === null ? "refused" : "opened")`,
  },
];

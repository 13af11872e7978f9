/** What a page can do that the holder has opened on an allowed site. */
import { byHtml, byRules, byScript, type Row } from "./attempt.ts";

const navigations: Row[] = [
  ...[301, 302, 303, 307, 308].map((status) =>
    byRules(`a redirect, ${status}`, ({ page, site, url }) => page.goto(site.page("", { location: url() }, status))),
  ),
  byRules("a redirect to a redirect", ({ page, site, url }) =>
    page.goto(site.page("", { location: site.page("", { location: url() }, 302) }, 302)),
  ),
  byHtml("meta refresh", ({ url }) => `<meta http-equiv=refresh content="0;url=${url()}">`),
  byRules("a Refresh header", ({ page, site, url }) => page.goto(site.page("", { refresh: `0;url=${url()}` }))),
  byScript("location.href", "void (location.href = %u)"),
  byScript("location.replace", "void location.replace(%u)"),
  byScript("window.open", "void window.open(%u)"),
  byHtml("a click on a link", ({ url }) => `<a id=a href="${url()}">x</a><script>a.click()</script>`),
  byHtml("a link's ping", ({ url }) => `<a id=a href="#" ping="${url()}">x</a><script>a.click()</script>`),
  byHtml("a form's GET", ({ url }) => `<form id=f action="${url()}"></form><script>f.submit()</script>`),
  byHtml("a download", ({ url }) => `<a id=a download href="${url("txt")}">x</a><script>a.click()</script>`),
  byRules("view-source:", ({ page, url }) => page.goto(`view-source:${url()}`)),
];

const elements: Row[] = [
  byHtml("an image", ({ url }) => `<img src="${url()}">`),
  byHtml("an image of a set", ({ url }) => `<img srcset="${url()} 1x">`),
  byHtml("an image in SVG", ({ url }) => `<svg><image href="${url()}"/></svg>`),
  byHtml("an input's image", ({ url }) => `<input type=image src="${url()}">`),
  byHtml("a script", ({ url }) => `<script src="${url("js")}"></script>`),
  byHtml("a module's import", ({ url }) => `<script type=module>import "${url("js")}"</script>`),
  byHtml("a style sheet", ({ url }) => `<link rel=stylesheet href="${url("css")}">`),
  byHtml("a style's import", ({ url }) => `<style>@import "${url("css")}"</style>`),
  byHtml("a background", ({ url }) => `<body style="background:url(${url()})">`),
  byHtml("a font", ({ url }) => `<style>@font-face{font-family:f;src:url(${url()})}</style><p style="font-family:f">x`),
  byHtml("a frame", ({ url }) => `<iframe src="${url()}"></iframe>`),
  byHtml(
    "a frame in a frame of its own text",
    ({ url }) => `<iframe srcdoc='<iframe src="${url()}"></iframe>'></iframe>`,
  ),
  byHtml("a sandboxed frame", ({ url }) => `<iframe sandbox src="${url()}"></iframe>`),
  byHtml("an object", ({ url }) => `<object data="${url()}"></object>`),
  byHtml("an embed", ({ url }) => `<embed src="${url()}">`),
  byHtml("a preload", ({ url }) => `<link rel=preload as=image href="${url()}">`),
  byHtml("a module's preload", ({ url }) => `<link rel=modulepreload href="${url("js")}">`),
  byHtml("a prefetch", ({ url }) => `<link rel=prefetch href="${url()}">`),
  byRules("the report of a policy's violation", ({ page, site, url }) =>
    page.goto(
      site.page(`<img src="${site.url}a">`, { "content-security-policy": `img-src 'none'; report-uri ${url()}` }),
    ),
  ),
];

const preconnects: Row[] = [
  byHtml("a preconnect", ({ url, tcp }) => `<link rel=preconnect href="http://${hostOf(url)}:${tcp}">`, {}, "plain"),
  byHtml("a preconnect over TLS", ({ url, tcp }) => `<link rel=preconnect href="https://${hostOf(url)}:${tcp}">`),
];

const scripts: Row[] = [
  byScript("fetch", "fetch(%u)"),
  byScript("fetch without CORS", 'fetch(%u, { mode: "no-cors" })'),
  byScript(
    "fetch that outlives the page",
    'void fetch(%u, { mode: "no-cors", keepalive: true, method: "POST", body: "x" })',
  ),
  byScript("XMLHttpRequest", 'void (() => { const x = new XMLHttpRequest(); x.open("GET", %u); x.send(); })()'),
  byScript(
    "XMLHttpRequest, synchronous",
    'void (() => { const x = new XMLHttpRequest(); x.open("GET", %u, false); x.send(); })()',
  ),
  byScript("sendBeacon", 'navigator.sendBeacon(%u, "x")'),
  byScript("EventSource", "void new EventSource(%u)"),
  byScript("WebSocket", 'void new WebSocket(%u.replace("http", "ws"))'),
  byScript("import()", "import(%u)", "js"),
  byScript(
    "a worker's fetch",
    'void new Worker(URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(%u) + ", { mode: \'no-cors\' })"])))',
  ),
  byScript(
    "a worker's importScripts",
    'void new Worker(URL.createObjectURL(new Blob(["importScripts(" + JSON.stringify(%u) + ")"])))',
    "js",
  ),
  byScript(
    "a worker's WebSocket",
    'void new Worker(URL.createObjectURL(new Blob(["new WebSocket(" + JSON.stringify(%u.replace("http", "ws")) + ")"])))',
  ),
  byScript(
    "a shared worker's fetch",
    'void new SharedWorker(URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(%u) + ", { mode: \'no-cors\' })"])))',
  ),
  byRules("a service worker's fetch", async ({ page, site, url }) => {
    const script = site.page(`fetch(${JSON.stringify(url())}, { mode: "no-cors" })`, {
      "content-type": "text/javascript",
    });
    await page.goto(site.page("<title>a</title>"));
    await page.evaluate(`navigator.serviceWorker.register(${JSON.stringify(script)})`);
  }),
  byRules("a page of data:", ({ page, url }) => page.goto(`data:text/html,<img src="${url()}">`)),
  byScript(
    "a page of blob:",
    'void (location.href = URL.createObjectURL(new Blob(["<img src=" + %u + ">"], { type: "text/html" })))',
  ),
  byRules(
    "WebRTC's STUN over UDP",
    ({ page, url, udp }) => page.evaluate(rtc(`stun:${new URL(url()).hostname}:${udp}`)),
    "plain",
  ),
  byRules(
    "WebRTC's TURN over UDP",
    ({ page, url, udp }) => page.evaluate(rtc(`turn:${new URL(url()).hostname}:${udp}`)),
    "plain",
  ),
  byRules(
    "WebRTC's TURN over TCP",
    ({ page, url, tcp }) => page.evaluate(rtc(`turn:${new URL(url()).hostname}:${tcp}?transport=tcp`)),
    "plain",
  ),
  byRules(
    "WebTransport",
    ({ page, url, udp }) =>
      page.evaluate(`void new WebTransport("https://${new URL(url()).hostname}:${udp}/").ready.catch(() => 0)`),
    "plain",
  ),
];

function rtc(url: string): string {
  return `(async () => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: ${JSON.stringify(url)}, username: "u", credential: "c" }] });
    peer.createDataChannel("d");
    await peer.setLocalDescription(await peer.createOffer());
    globalThis.peer = peer;
  })()`;
}

function hostOf(url: () => string): string {
  return new URL(url()).hostname;
}

/** Rows that need no more than a page. */
export const pageRows: Row[] = [...navigations, ...elements, ...preconnects, ...scripts];

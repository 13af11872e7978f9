/** Sites that want to hurt whoever visits them. */
import type { ServerResponse } from "node:http";
import { answer, html, plenty, type Site } from "./site.ts";

const chunk = Buffer.alloc(64 * 1024, "<p>lamp</p>\n");

/** Writes as fast as the reader reads, until it goes. */
const pour = (response: ServerResponse, most: number): void => {
  let left = most;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once("drain", write);
    }
    response.end();
  };
  write();
};

/** Writes a little now and then, until the reader goes. */
const drip = (response: ServerResponse): void => {
  const timer = setInterval(() => response.write("<p>news</p>"), 100);
  response.once("close", () => clearInterval(timer));
};

const script =
  (code: string): Site =>
  (_, response) =>
    answer(response, html("Harbour Lamps", `${plenty}<script>${code}</script>`));

const lies = `
<form name="title"><input name="value"></form><img name="body"><img name="documentElement"><img name="querySelector">
<script>
const lie = () => "LIE".repeat(1e6);
for (const prototype of [Document.prototype, HTMLElement.prototype, Element.prototype, Node.prototype, Object.prototype, Array.prototype, String.prototype])
  for (const name of ["title", "innerText", "outerHTML", "textContent", "body", "slice", "toString", "toJSON", "get", "call", "toWellFormed"])
    try { Object.defineProperty(prototype, name, { get: lie, configurable: true }); } catch {}
Object.getOwnPropertyDescriptor = lie;
JSON.stringify = lie;
window.Object = lie;
</script>`;

/** By their names below `.example`. */
export const hostileSites: Readonly<Record<string, Site>> = {
  silent: () => undefined,
  gigabyte: (_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    pour(response, 1024 ** 3);
  },
  "hidden-gigabyte": ({ path }, response) => {
    if (path !== "/data") return script('fetch("/data").then((one) => one.text())')({} as never, response);
    response.writeHead(200, { "content-type": "text/plain" });
    pour(response, 1024 ** 3);
  },
  "worker-gigabyte": ({ path }, response) => {
    if (path === "/worker.js")
      return void response
        .writeHead(200, { "content-type": "text/javascript" })
        .end('fetch("/data").then((one) => one.text())');
    if (path !== "/data") return script('new Worker("/worker.js")')({} as never, response);
    response.writeHead(200, { "content-type": "text/plain" });
    pour(response, 1024 ** 3);
  },
  "frame-gigabyte": ({ path, port }, response) => {
    if (path === "/")
      return answer(
        response,
        html("Harbour Lamps", `${plenty}<iframe src="http://gigabyte.example:${port}/"></iframe>`),
      );
    answer(response, "");
  },
  "many-windows": script(`for (let i = 0; i < 1000; i++) window.open("/more?" + i, "_blank", "popup");`),
  "many-workers": script(
    `for (let i = 0; i < 1000; i++) new Worker(URL.createObjectURL(new Blob(["setInterval(() => 0, 50)"])));`,
  ),
  "a-download": (_, response) =>
    void response
      .writeHead(200, { "content-type": "application/zip", "content-disposition": 'attachment; filename="a.zip"' })
      .end("PK"),
  "late-download": ({ path }, response) =>
    path === "/file"
      ? void response
          .writeHead(200, {
            "content-type": "application/zip",
            "content-disposition": 'attachment; filename="late.zip"',
          })
          .end("PK")
      : answer(
          response,
          html("Harbour Lamps", `${plenty}<script>setTimeout(() => { location = "/file"; }, 100)</script>`),
        ),
  alerts: script(`alert(1); confirm(2); prompt(3); onbeforeunload = () => "stay"; document.title = "went on";`),
  "endless-alerts": script("for (;;) alert(1);"),
  permissions: script(
    `navigator.geolocation.getCurrentPosition(() => { document.title = "granted"; }); Notification.requestPermission().then((it) => { if (it === "granted") document.title = it; });`,
  ),
  "asks-login": (_, response) =>
    answer(response, html("Unauthorized", "<h1>Log in</h1>"), 401, { "www-authenticate": 'Basic realm="lamps"' }),
  "redirects-for-ever": ({ nth }, response) => void response.writeHead(302, { location: `/${nth}` }).end(),
  "leads-for-ever": ({ nth }, response) =>
    answer(response, html("Wait", `<script>location.replace("/${nth}")</script>`)),
  /** V8 gives up at once when it is asked for an array of more elements than it can have. */
  "crashes-tab": script("setTimeout(() => 'x'.repeat(2 ** 27 + 1).split(''), 50);"),
  "eats-memory": script(
    "setTimeout(() => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); }, 50);",
  ),
  "keeps-busy": script("setTimeout(() => { for (;;); }, 50);"),
  "busy-at-once": (_, response) => answer(response, html("Harbour Lamps", `<script>for (;;);</script>${plenty}`)),
  "never-ends": (_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.write(`<title>News</title><body>${plenty}`);
    drip(response);
  },
  lies: (_, response) => answer(response, html("True title", `<h1>True text</h1>${plenty}${lies}`)),
  "long-lines": (_, response) =>
    answer(response, html("t".repeat(100_000), `<p>${"x".repeat(200_000)}</p>`), 200, {
      "x-long": "h".repeat(5000),
      ...Object.fromEntries(Array.from({ length: 100 }, (_one, i) => [`x-${i}`, "1"])),
    }),
  "many-frames": ({ path }, response) =>
    answer(
      response,
      path === "/"
        ? html(
            "Harbour Lamps",
            plenty + Array.from({ length: 200 }, (_, i) => `<iframe src="/f${i}"></iframe>`).join(""),
          )
        : "<p>frame",
    ),
  "endless-robots": ({ path }, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    if (path === "/robots.txt") pour(response, 1024 ** 3);
    else response.end();
  },
  "floods-console": script("setInterval(() => { for (let i = 0; i < 1e4; i++) console.log('x'.repeat(1e4)); }, 10);"),
};

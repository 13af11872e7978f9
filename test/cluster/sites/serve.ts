/**
 * Sites for analyses in a cluster, in a pod: `node serve.ts '{"listen": [{"host": "0.0.0.0", "port": 80}], ...}'`. A
 * site is named by the first label of the host that is asked for. Prints a line for each request.
 */
import { createServer } from "node:http";
import { answer, goods, html, plenty, type Site } from "../../support/internet/site.ts";
import { sites } from "../../support/internet/sites.ts";

type Order = {
  listen: { host: string; port: number }[];
  /** Sites that redirect, and where to. */
  redirects: Record<string, string>;
  /** What the page of the site `curious` asks for, by all means that a page has. */
  curiousOf: string[];
};

const { listen, redirects, curiousOf }: Order = JSON.parse(process.argv[2] ?? "");

const curious = html(
  "Harbour Lamps",
  [
    plenty,
    ...curiousOf.map((url) => `<img src="${url}"><iframe src="${url}"></iframe><script src="${url}"></script>`),
    `<script>for (const url of ${JSON.stringify(curiousOf)}) {
      fetch(url, { mode: "no-cors" }).catch(() => undefined);
      new Worker(URL.createObjectURL(new Blob(["fetch('" + url + "', { mode: 'no-cors' })"])));
      try { new WebSocket(url.replace("http", "ws")); } catch {}
    }</script>`,
  ].join("\n"),
);

const own: Record<string, Site> = {
  curious: (_, response) => answer(response, curious),
  /** Leaves time for a look at the browser that waits. */
  patient: (_, response) => void setTimeout(() => answer(response, goods), 8000),
  ...Object.fromEntries(
    Object.entries(redirects).map(([name, location]): [string, Site] => [
      name,
      (_, response) => void response.writeHead(302, { location }).end(),
    ]),
  ),
};

/**
 * Whoever is asked for as something else shows what every site shows to those whom it lets in: reached by mistake, it
 * would be seen.
 */
const ordinary: Site = (_, response) => answer(response, goods);

for (const { host, port } of listen)
  createServer((request, response) => {
    const [name = ""] = (request.headers.host ?? "").split(".");
    const path = new URL(request.url ?? "/", "http://x.example").pathname;
    response.on("error", () => undefined);
    process.stdout.write(`${request.headers.host} ${path}\n`);
    if (path === "/robots.txt" || path === "/favicon.ico") return void response.writeHead(404).end();
    const site = own[name] ?? sites[name] ?? ordinary;
    site({ request, path, place: undefined, nth: 1, port }, response);
  }).listen(port, host);

process.on("SIGTERM", () => process.exit(0));

/** What a browser behind a wall can do as any other browser. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { listeningPort } from "../../../../src/platform/base/listening-port.ts";
import { createTestAgents } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";
import { startDnsServer } from "../../../support/wall/dns-server.ts";
import { ownAddress, ownPrivateAddress } from "../../../support/wall/machine.ts";
import { createTestCa } from "../../../support/wall/test-ca.ts";

const agents = createTestAgents();
const parts = new AsyncDisposableStack();
const name = "site.example";
const file = randomBytes(1024 * 1024);
const uploadBytes = 50 * 1024 * 1024;
let browser: Browser;
let page: Page;
let urls: Record<"http" | "https", string>;
let connections: number;

const digestOf = async (request: IncomingMessage): Promise<string> => {
  const hash = createHash("sha256");
  for await (const chunk of request) hash.update(chunk as Buffer);
  return hash.digest("hex");
};

const serve: RequestListener = async (request, response) => {
  response.setHeader("access-control-allow-origin", "*");
  const path = request.url ?? "";
  if (path === "/upload") return void response.end(await digestOf(request));
  if (path === "/file")
    return void response
      .writeHead(200, {
        "content-disposition": "attachment; filename=a.bin",
        "content-type": "application/octet-stream",
      })
      .end(file);
  if (path === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    let count = 1;
    const timer = setInterval(() => response.write(`data: ${count++}\n\n`), 50);
    return void response.once("close", () => clearInterval(timer));
  }
  const [, status] = /^\/status\/(\d+)/.exec(path) ?? [];
  response.writeHead(status ? Number(status) : 200, { "content-type": "text/html" }).end(`<title>${path}</title>`);
};

const listen = async (server: Server): Promise<number> => {
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(`echo ${data}`)));
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "::");
  await once(server, "listening");
  parts.defer(() => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets.clients) socket.terminate();
  });
  return listeningPort(server);
};

beforeAll(async () => {
  connections = 0;
  const ca = parts.use(await createTestCa());
  const plain = await listen(createServer(serve));
  const tls = await listen(createTlsServer(await ca.issue([name]), serve) as unknown as Server);
  urls = { http: `http://${name}:${plain}`, https: `https://${name}:${tls}` };
  const dns = parts.use(await startDnsServer((asked) => (asked === name ? { a: [ownAddress] } : undefined)));
  const der = ca.certificate.replace(/-----[^-]+-----|\s/g, "");
  const agent = await agents.start(
    {},
    {
      setup: {
        policy: { CACertificates: [der] },
        network: { allowed_hosts: [name, ...(ownPrivateAddress ? [ownPrivateAddress] : [])] },
      },
      env: { BROWSERPOOL_DNS_SERVERS: dns.address },
    },
  );
  await agent.bind("s", 1);
  browser = await agent.connect("s");
  page = await browser.newPage();
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  await parts.disposeAsync();
});

describe.each(["http", "https"] as const)("over %s", (scheme) => {
  test("a page loads, and the browser is online", async () => {
    const answer = await page.goto(`${urls[scheme]}/a`);
    expect(answer?.status()).toBe(200);
    expect(await page.title()).toBe("/a");
    expect(await page.evaluate("navigator.onLine")).toBe(true);
  });

  // Not 407: Chromium takes it from no site, behind a proxy or not.
  test.each([401, 403, 404, 500, 503])("a page sees the status %s", async (status) => {
    expect((await page.goto(`${urls[scheme]}/status/${status}`))?.status()).toBe(status);
  });

  test("a WebSocket carries messages both ways, also after a pause", async () => {
    await page.goto(`${urls[scheme]}/a`);
    const answer = page.evaluate(`new Promise((resolve, reject) => {
      const socket = new WebSocket(${JSON.stringify(`${urls[scheme].replace("http", "ws")}/`)});
      const got = [];
      socket.onopen = () => socket.send("one");
      socket.onerror = reject;
      socket.onmessage = ({ data }) => {
        got.push(data);
        if (got.length === 2) resolve(got);
        else setTimeout(() => socket.send("two"), 1500);
      };
    })`);
    expect(await answer).toEqual(["echo one", "echo two"]);
  });

  test("events of a server arrive as they are sent", async () => {
    await page.goto(`${urls[scheme]}/a`);
    const got = await page.evaluate(`new Promise((resolve) => {
      const got = [];
      const source = new EventSource("/events");
      source.onmessage = ({ data }) => { got.push(data); if (got.length === 3) { source.close(); resolve(got); } };
    })`);
    expect(got).toEqual(["1", "2", "3"]);
  });

  test("a body of 50 MiB is sent whole", async () => {
    await page.goto(`${urls[scheme]}/a`);
    const digest = await page.evaluate(
      `fetch("/upload", { method: "POST", body: new Uint8Array(${uploadBytes}).fill(7) }).then((answer) => answer.text())`,
    );
    expect(digest).toBe(createHash("sha256").update(Buffer.alloc(uploadBytes, 7)).digest("hex"));
  });

  test("a hundred requests at once are answered, on kept connections", async () => {
    await page.goto(`${urls[scheme]}/a`);
    const before = connections;
    const statuses = await page.evaluate(
      `Promise.all(Array.from({ length: 100 }, (_, n) => fetch("/status/2" + String(n % 7).padStart(2, "0").replace("04", "00").replace("05", "00")).then((answer) => answer.status)))`,
    );
    expect(statuses).toHaveLength(100);
    expect(connections - before).toBeLessThan(50);
  });

  test("a download arrives whole", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wall-download-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const root = await browser.target().createCDPSession();
    await root.send("Browser.setDownloadBehavior", {
      behavior: "allowAndName",
      downloadPath: folder,
      eventsEnabled: true,
    });
    const done = new Promise<string>((resolve) => {
      root.on("Browser.downloadProgress", ({ guid, state }) => state === "completed" && resolve(guid));
    });
    await page.goto(`${urls[scheme]}/file`).catch(() => undefined);
    expect((await readFile(join(folder, await done))).equals(file)).toBe(true);
  });
});

// NETWORK-6
test("a host beyond allowed_hosts is refused", async () => {
  const answer = await page.goto(urls.http.replace(name, `no.${name}`));
  expect(answer?.status()).toBe(403);
});

// NETWORK-7
test.runIf(ownPrivateAddress)("a private address is reached when private_hosts are left out", async () => {
  const answer = await page.goto(`http://${ownPrivateAddress}:${new URL(urls.http).port}/a`);
  expect(answer?.status()).toBe(200);
});

// NETWORK-7
test.runIf(ownPrivateAddress).each([
  [[], 403],
  [["10.99.0.0/16"], 403],
  [[ownPrivateAddress ?? ""], 200],
])("with private_hosts %j, a private address answers %s", async (private_hosts, status) => {
  const agent = await agents.start({}, { setup: { network: { private_hosts } } });
  await agent.bind("s", 1);
  const opened = await (await agent.connect("s")).newPage();
  const answer = await eventually("an answer", () =>
    opened.goto(`http://${ownPrivateAddress}:${new URL(urls.http).port}/a`),
  );
  expect(answer?.status()).toBe(status);
});

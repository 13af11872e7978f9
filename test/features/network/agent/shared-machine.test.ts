/** A browser on a machine that is not its own, as in local mode: what it sees of files, processes and ports. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mayGetNamespaces } from "../../../../src/local/local-features.ts";
import { killRecordedGroups } from "../../../../src/platform/process/process-groups.ts";
import { createTestAgents, runningIn, type StartOptions, type TestAgent } from "../../../support/agent-process.ts";
import { eventually } from "../../../support/eventually.ts";

const canRun = await mayGetNamespaces();
const agents = createTestAgents();
/** Stands for the data directory of local mode. */
let data: string;
let secret: string;
const servers: Server[] = [];
let site: number;
let own: number;
/** What reached the server on the service's port. */
const hits: string[] = [];

const listen = async (answer: string, onHit?: (url: string) => void): Promise<number> => {
  const server = createServer((request, response) => {
    onHit?.(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*").setHeader("content-type", "text/html").end(answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

const environmentOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
};

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "data-"));
  secret = join(data, "api-key");
  await writeFile(secret, "bp_secret");
  site = await listen("<title>the site</title>");
  own = await listen("the service", (url) => hits.push(url));
});
afterAll(async () => {
  await agents[Symbol.asyncDispose]();
  for (const server of servers) server.close();
  await rm(data, { recursive: true, force: true });
});

const start = async (options: StartOptions = {}): Promise<{ agent: TestAgent; page: Page }> => {
  const agent = await agents.start({}, { ...options, env: { BROWSERPOOL_OWN_PORTS: String(own) } });
  await agent.bind("s", 1);
  return { agent, page: await (await agent.connect("s")).newPage() };
};

/** What a page gets of a URL: its text, or that it gets nothing. */
const fetched = (page: Page, url: string): Promise<unknown> =>
  page.evaluate(`fetch("${url}").then((answer) => answer.status + " " + answer.ok, () => "nothing")`);

// NETWORK-12
test.skipIf(!canRun)("a file input, a navigation and a download reach the browser's own folders alone", async () => {
  const { agent, page } = await start();
  await page.setContent("<input type=file>");
  const cdp = await page.createCDPSession();
  const { root } = await cdp.send("DOM.getDocument");
  const { nodeId } = await cdp.send("DOM.querySelector", { nodeId: root.nodeId, selector: "input" });
  await cdp.send("DOM.setFileInputFiles", { nodeId, files: [secret] });
  const read = `document.querySelector("input").files[0].text().catch((error) => error.name)`;
  expect(await page.evaluate(read)).toBe("NotFoundError");
  await cdp.send("DOM.setFileInputFiles", { nodeId, files: [agent.groupsFile] });
  expect(await page.evaluate(read)).toBe("NotFoundError");
  for (const path of [secret, agent.groupsFile, "/root", "/home", "/etc/shadow", "/var/lib", "/run"])
    await expect(page.goto(`file://${path}`), path).rejects.toThrow("ERR_FILE_NOT_FOUND");

  const folder = join(data, "downloads");
  await mkdir(folder);
  const next = await page.browser().newPage();
  await next.goto(`http://127.0.0.1:${site}/`);
  const browser = await page.browser().target().createCDPSession();
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
  const over = new Promise((resolve) =>
    browser.on("Browser.downloadProgress", ({ state }) => state !== "inProgress" && resolve(state)),
  );
  const link = `Object.assign(document.createElement("a"), { href: "data:,text", download: "file.txt" })`;
  await next.evaluate(`void setTimeout(() => ${link}.click())`);
  await over;
  expect(await readdir(folder)).toEqual([]);
});

// NETWORK-12
test.skipIf(!canRun)("a browser sees its own processes alone", async () => {
  const { agent, page } = await start();
  await page.goto("about:blank");
  const spaceOf = (pid: number | "self", kind: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/ns/${kind}`);
    } catch {
      return "ended";
    }
  };
  const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8");
  const [browser = 0] = runningIn(agent.groups()).filter((pid) => /chrom/.test(nameOf(pid)));
  for (const kind of ["pid", "mnt", "net"]) expect(spaceOf(browser, kind), kind).not.toBe(spaceOf("self", kind));
  // Whoever is in its namespace of processes is what it can see in /proc.
  const seen = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid && spaceOf(pid, "pid") === spaceOf(browser, "pid"));
  expect(seen.length).toBeGreaterThan(1);
  for (const pid of seen)
    expect(readFileSync(`/proc/${pid}/environ`, "latin1"), `${pid}`).not.toContain("BROWSERPOOL_AGENT_KEY");
});

// NETWORK-13
test.skipIf(!canRun)(
  "a browser reaches servers of the machine, and no port of the service or of another browser",
  async () => {
    const { page } = await start();
    const other = await start();
    expect((await page.goto(`http://localhost:${site}/`))?.status()).toBe(200);
    expect(await page.title()).toBe("the site");
    for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433"])
      expect(await fetched(page, `http://${host}:${own}/${host}`), host).not.toBe("200 true");
    // A holder of CDP may leave the proxy out: then only the namespace is left.
    const root = await page.browser().target().createCDPSession();
    const { browserContextId } = await root.send("Target.createBrowserContext", { proxyServer: "direct://" });
    await root.send("Target.createTarget", { url: `http://127.0.0.1:${own}/direct`, browserContextId });
    expect((await page.goto(`http://127.0.0.1:${own}/navigated`))?.status()).toBe(403);
    expect(hits).toEqual([]);

    const id = `${Math.random()}`;
    await other.page.evaluate(`document.title = "${id}"`);
    for (const port of [9222, 3128]) {
      const answer = await page.goto(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
      expect((await answer?.text()) ?? "", `${port}`).not.toContain(id);
    }
  },
);

// NETWORK-14
test.skipIf(!canRun)("a browser with rules reaches loopback where private_hosts names it", async () => {
  const named = await start({ setup: { network: { private_hosts: ["127.0.0.0/8"] } } });
  expect((await named.page.goto(`http://127.0.0.1:${site}/`))?.status()).toBe(200);
  expect((await named.page.goto(`http://127.0.0.1:${own}/`))?.status()).toBe(403);
  const unnamed = await start({ setup: { network: {} } });
  expect((await unnamed.page.goto(`http://127.0.0.1:${site}/`))?.status()).toBe(403);
});

// NETWORK-12
test.skipIf(!canRun)("an agent that is killed leaves no process in a namespace of its browser", async () => {
  const { agent } = await start({ setup: { network: {} } });
  const inside = (): number[] =>
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid && environmentOf(pid).includes(`HOME=${agent.dir}/`));
  expect(inside().length).toBeGreaterThan(3);
  agent.child.kill("SIGKILL");
  await agent.exited;
  await killRecordedGroups(agent.groupsFile);
  await eventually("the end of all", async () => inside().length === 0);
});

/** A proxy at this port. A server of pages answers what a proxy is asked for, too. */
const through = (port: number): NonNullable<StartOptions["setup"]> => ({
  network: { proxy: "p", proxies: [{ id: "p", protocol: "http", host: "127.0.0.1", port, bypass_hosts: [] }] },
});

// NETWORK-14
test.skipIf(!canRun)("a proxy of a browser may be on loopback, and is no port of the service", async () => {
  const proxied = await start({ setup: through(site) });
  await proxied.page.goto("http://site.example/");
  expect(await proxied.page.title()).toBe("the site");
  const refused = await start({ setup: through(own) });
  expect((await refused.page.goto("http://site.example/"))?.status()).toBe(403);
  expect(hits).toEqual([]);
});

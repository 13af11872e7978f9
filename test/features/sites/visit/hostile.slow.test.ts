/** Visits of sites that want to hurt: each ends, bounded, and tells what it saw. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { maxScreenshotBytes } from "../../../../src/features/sites/visit/take-screenshot.ts";
import type { VisitLimits } from "../../../../src/features/sites/visit/visit.ts";
import { type VisitResult, visitPage } from "../../../../src/features/sites/visit/visit-page.ts";
import { connectCdp } from "../../../../src/platform/cdp/cdp-connection.ts";
import { createTestAgents, runningIn, type TestAgent } from "../../../support/agent-process.ts";
import { startCdpRelay } from "../../../support/cdp-relay.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Internet, startInternet } from "../../../support/internet/internet.ts";
import { devToolsOf, internetEnv, session } from "../../../support/visited-agent.ts";

let internet: Internet;
let agent: TestAgent;
const agents = createTestAgents();

const start = async (browser: { headless: boolean; stealth?: boolean }): Promise<TestAgent> => {
  const started = await agents.start(browser, { env: internetEnv(internet) });
  await started.bind(session, 1);
  return started;
};

beforeAll(async () => {
  internet = await startInternet();
});
afterAll(() => internet[Symbol.asyncDispose]());

const limits = { bytes: 3 * 1024 * 1024, quietMs: 2000, patienceMs: 500 };

/** For visits that something else than their time ends. */
const longMs = 50_000;

const visit = (site: string, more: Partial<VisitLimits> = {}, signal?: AbortSignal): Promise<VisitResult> =>
  visitPage(
    { connect: devToolsOf(agent), url: internet.url(site), limits: { ...limits, ...more } },
    signal ?? new AbortController().signal,
  );

const seen = {
  status: 200,
  title: "Harbour Lamps",
  text: expect.stringMatching(/^Each of our lamps/),
  error: undefined,
};

describe.each([
  ["the headless shell", { headless: true }],
  ["the full browser", { headless: true, stealth: true }],
])("%s", (_, browser) => {
  // One browser for all: a visit leaves nothing in it.
  beforeAll(async () => {
    agent = await start(browser);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  // LOOKUP-61
  test.each(["gigabyte", "hidden-gigabyte", "worker-gigabyte", "frame-gigabyte", "many-workers", "endless-alerts"])(
    "takes no more of %s than its bounds",
    async (site) => {
      const { visit: found, bytes } = await visit(site);
      expect(found).toMatchObject({ status: 200, error: "TOO_LARGE" });
      // More comes until the page is closed, which takes a moment.
      expect(bytes).toBeLessThan(512 * 1024 * 1024);
    },
  );

  // LOOKUP-61
  test.each([
    ["silent", undefined],
    ["busy-at-once", 200],
    ["keeps-busy", 200],
  ])("ends in time at %s", async (site, status) => {
    expect((await visit(site, { timeMs: 4000 })).visit).toMatchObject({ status, text: "", error: "TIMED_OUT" });
  });

  // LOOKUP-61
  test.each(["redirects-for-ever", "leads-for-ever"])("follows %s a while", async (site) => {
    const { visit: found } = await visit(site);
    expect(found).toMatchObject({ text: "", error: "ERR_TOO_MANY_REDIRECTS" });
    expect(found.redirects.length).toBeGreaterThan(15);
  });

  // LOOKUP-61
  test("takes a page that never ends as it is", async () => {
    expect((await visit("never-ends", { loadMs: 1000 })).visit).toMatchObject({
      status: 200,
      title: "News",
      error: undefined,
    });
  });

  // LOOKUP-62
  test("dismisses dialogs, grants nothing and loads nothing down", async () => {
    await using other = await connectCdp(devToolsOf(agent), new AbortController().signal);
    await other.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: agent.dir });
    expect((await visit("alerts")).visit).toMatchObject({ ...seen, title: "went on" });
    expect((await visit("permissions")).visit).toMatchObject(seen);
    expect((await visit("late-download")).visit).toMatchObject({ ...seen, url: internet.url("late-download") });
    expect((await visit("a-download")).visit).toMatchObject({ text: "", error: "DOWNLOAD" });
    expect(readdirSync(agent.dir, { recursive: true }).filter((name) => String(name).includes(".zip"))).toEqual([]);
    expect((await visit("asks-login")).visit).toMatchObject({ status: 401 });
  });

  // LOOKUP-63
  test("reads what the page is, not what its scripts say", async () => {
    const { visit: found } = await visit("lies");
    expect(found).toMatchObject({
      status: 200,
      title: "True title",
      text: expect.stringMatching(/^True text\n\nEach/),
    });
    expect(found.markup).not.toMatch(/^LIE/);
  });

  // LOOKUP-63
  test("bounds every text and list", async () => {
    const { visit: found, screenshot } = await visit("long-lines");
    expect([found.title.length, found.text.length, found.markup.length]).toEqual([2048, 65_536, 65_536]);
    expect(Object.keys(found.headers)).toHaveLength(64);
    expect(Math.max(...Object.values(found.headers).map(({ length }) => length))).toBeLessThanOrEqual(2048);
    expect(screenshot?.length).toBeLessThanOrEqual(maxScreenshotBytes);
    expect((await visit("many-frames")).visit.frames).toHaveLength(64);
  });

  // LOOKUP-64
  test("notices that its tab has crashed", async () => {
    const before = internet.requests("never-ends");
    const running = visit("never-ends", { timeMs: longMs, loadMs: longMs });
    await eventually("the visit has begun", async () => internet.requests("never-ends") > before);
    const isRenderer = (pid: number): boolean =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer");
    for (const pid of runningIn(agent.groups()).filter(isRenderer)) process.kill(pid, "SIGKILL");
    expect((await running).visit.error).toBe("CRASHED");
  });

  // A browser that has had a thousand windows stays slow for a while, so these are the last ones.
  // LOOKUP-62
  test("closes windows at once, and ends when there are very many", async () => {
    const other = await connectCdp(devToolsOf(agent), new AbortController().signal);
    await using _ = other;
    const pages = async (): Promise<number> =>
      (await other.send("Target.getTargets", {})).targetInfos.filter(({ type }) => type === "page").length;
    const before = internet.requests("silent");
    const running = visit("silent", { timeMs: longMs });
    await eventually("the visit has begun", async () => internet.requests("silent") > before);
    await other.send("Target.createTarget", { url: "about:blank" });
    await eventually("its window is closed", async () => (await pages()) === 1);
    for (let opened = 0; opened < 60; opened += 1)
      void other.send("Target.createTarget", { url: "about:blank" }).catch(() => undefined);
    expect((await running).visit.error).toBe("TOO_LARGE");
  });

  test("does not wait for a thousand windows", async () => {
    expect((await visit("many-windows")).visit.status).toBe(200);
  });
});

describe("ends and leaves nothing", () => {
  beforeEach(async () => {
    agent = await start({ headless: true });
  });
  afterEach(() => agents[Symbol.asyncDispose]());

  /** Timers and sockets of this process; those of the local internet close a moment later. */
  const resources = (): string[] =>
    process.getActiveResourcesInfo().filter((kind) => ["Timeout", "TCPSocketWrap"].includes(kind));

  // LOOKUP-65
  test("closes its page and its connection", async () => {
    const before = resources().length;
    for (const site of ["open-shop", "gigabyte", "a-download", "dead"]) await visit(site);
    await eventually("all is closed", async () => resources().length <= before);
    await using other = await connectCdp(devToolsOf(agent), new AbortController().signal);
    const { targetInfos } = await other.send("Target.getTargets", {});
    expect(targetInfos.filter(({ type }) => type === "page")).toEqual([]);
  });

  // LOOKUP-64
  test("tells that the browser is gone", async () => {
    const before = internet.requests("silent");
    const running = visit("silent", { timeMs: longMs });
    await eventually("the visit has begun", async () => internet.requests("silent") > before);
    agent.child.kill("SIGKILL");
    expect((await running).visit).toMatchObject({ status: undefined, error: "BROWSER_GONE" });
    expect((await visit("open-shop")).visit.error).toBe("BROWSER_GONE");
  });

  // LOOKUP-64
  test("rejects when its caller ends it, and only then", async () => {
    const ending = new AbortController();
    const before = internet.requests("silent");
    const running = visit("silent", { timeMs: longMs }, ending.signal);
    await eventually("the visit has begun", async () => internet.requests("silent") > before);
    ending.abort(new Error("the operator stops"));
    await expect(running).rejects.toThrow("the operator stops");
    await expect(visit("open-shop", {}, ending.signal)).rejects.toThrow("the operator stops");
  });

  // LOOKUP-68
  test("sends nothing that a page can notice", async () => {
    await using relay = await startCdpRelay(devToolsOf(agent));
    const request = { connect: relay.connect, url: internet.url("captcha-shop"), limits };
    expect((await visitPage(request, new AbortController().signal)).visit.status).toBe(200);
    // What ends a page comes after it was read: its scripts stop, which none of them can notice, and it is closed.
    const ends = /"method":"(Emulation\.setScriptExecutionDisabled|Target\.closeTarget)"/;
    expect(relay.sent.filter((message) => ends.test(message))).toEqual(relay.sent.slice(-2));
    const sent = relay.sent.slice(0, -2).join("\n");
    expect(sent).toMatch(/"method":"Network\.enable"/);
    expect(sent).not.toMatch(/"method":"(Runtime\.enable|Log\.|Debugger\.|Emulation\.|Page\.addScript)/);
  });

  // LOOKUP-64
  test("ends with a browser that talks nonsense", async () => {
    await using relay = await startCdpRelay(devToolsOf(agent), { nonsense: "}{" });
    const request = { connect: relay.connect, url: internet.url("open-shop"), limits };
    expect((await visitPage(request, new AbortController().signal)).visit.error).toBe("BROWSER_GONE");
  });

  // LOOKUP-69
  test("speaks to no one but the browser's agent", async () => {
    const other = await start({ headless: true });
    const before = internet.requests("open-shop");
    const { visit: found } = await visitPage(
      { connect: devToolsOf(agent, other.agentKey), url: internet.url("open-shop") },
      new AbortController().signal,
    );
    expect(found.error).toBe("BROWSER_GONE");
    expect(internet.requests("open-shop")).toBe(before);
  });
});

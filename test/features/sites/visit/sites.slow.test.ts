/** What visits of the local internet's sites see, by real agents and their browsers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type VisitRequest, type VisitResult, visitPage } from "../../../../src/features/sites/visit/visit-page.ts";
import { createTestAgents, type StartOptions, type TestAgent } from "../../../support/agent-process.ts";
import { type Internet, startInternet } from "../../../support/internet/internet.ts";
import { devToolsOf, internetEnv, session } from "../../../support/visited-agent.ts";

const agents = createTestAgents();
const stack = new AsyncDisposableStack();
stack.use(agents);
let internet: Internet;

const start = async (
  browser: { headless: boolean; stealth?: boolean },
  more: StartOptions = {},
): Promise<TestAgent> => {
  const agent = await agents.start(browser, { env: internetEnv(internet), ...more });
  await agent.bind(session, 1);
  return agent;
};

/** Sites that lead on by themselves, after 3 s at most; all others stay as they are. */
const leadingOn = ["hard-wall", "soft-wall", "hopping-shop", "late-shop", "stranded-shop"];
const patienceFor = (site: string): number => (leadingOn.includes(site) ? 6000 : 300);

const visit = (agent: TestAgent, site: string, path = "/", more: Partial<VisitRequest> = {}): Promise<VisitResult> =>
  visitPage(
    { connect: devToolsOf(agent), url: internet.url(site, path), limits: { patienceMs: patienceFor(site) }, ...more },
    new AbortController().signal,
  );

beforeAll(async () => {
  internet = stack.use(await startInternet());
});
afterAll(() => stack.disposeAsync());

const goods = {
  status: 200,
  title: "Harbour Lamps",
  text: expect.stringMatching(/^Harbour Lamps\n\nEach of our lamps/),
};
const denied = { status: 403, title: "Access Denied" };

describe("the headless shell", () => {
  let shell: TestAgent;
  beforeAll(async () => {
    shell = await start({ headless: true });
  });

  // LOOKUP-60
  test("sees the whole page, with one GET of it", async () => {
    const { visit: seen, screenshot, bytes } = await visit(shell, "open-shop", "/?a=1#b");
    expect(seen).toMatchObject({
      ...goods,
      url: internet.url("open-shop", "/?a=1#b"),
      redirects: [],
      frames: [],
      error: undefined,
    });
    expect(seen.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(seen.markup).toMatch(/^<html lang="en"><head>/);
    expect(seen.isBlank).toBe(false);
    expect(Buffer.from(screenshot ?? []).toString("latin1", 8, 12)).toBe("WEBP");
    expect(bytes).toBeGreaterThan(seen.text.length);
    expect(internet.requests("open-shop")).toBe(1);
  });

  // LOOKUP-60
  test.each([
    ["no-headless", "/", denied],
    ["no-drivers", "/", { ...denied, redirects: [expect.stringMatching(/no-drivers/)] }],
    ["no-data-centres", "/", denied],
    ["only-germany", "/", { status: 451, title: "Not available" }],
    [
      "hard-wall",
      "/",
      { status: 403, title: "Just a moment...", headers: expect.objectContaining({ "cf-mitigated": "challenge" }) },
    ],
    ["soft-wall", "/", { ...goods, redirects: [expect.stringMatching(/soft-wall/)] }],
    [
      "captcha-shop",
      "/",
      { status: 200, frames: [expect.stringMatching(/captcha-frames\.example:\d+\/recaptcha\/api2\/anchor/)] },
    ],
    ["unusual-traffic", "/", { status: 200, text: expect.stringMatching(/unusual traffic/) }],
    ["consent-first", "/", { status: 200, title: "Before you continue" }],
    ["slow-shop", "/", goods],
    ["soft-refusal", "/", { status: 200, text: expect.stringMatching(/automated/) }],
    [
      "moved-shop",
      "/",
      {
        ...goods,
        url: expect.stringMatching(/open-shop\.example:\d+\/moved$/),
        redirects: [expect.stringMatching(/moved-shop/)],
      },
    ],
    [
      "hopping-shop",
      "/",
      { ...goods, url: expect.stringMatching(/\/end$/), redirects: [expect.stringMatching(/hopping-shop/)] },
    ],
    ["late-shop", "/", { status: 200, text: expect.stringMatching(/^Each of our lamps/) }],
    ["broken-shop", "/", { status: 500, text: "Internal Server Error" }],
    ["empty-error", "/", { status: 500, text: "" }],
    ["blank-shop", "/", { status: 200, text: "", isBlank: true }],
    ["by-path", "/", goods],
    ["by-path", "/denied", denied],
    ["by-path", "/busy", { status: 429, headers: expect.objectContaining({ "retry-after": "60" }) }],
    ["by-path", "/challenge", { status: 403, title: "Just a moment..." }],
    ["by-path", "/captcha", { status: 200, title: "Are you a person?" }],
    [
      "stranded-shop",
      "/",
      { url: expect.stringMatching(/dead\.example/), title: "", text: "", error: expect.stringMatching(/^ERR_/) },
    ],
    ["dead", "/", { status: undefined, headers: {}, text: "", isBlank: undefined, error: "ERR_CONNECTION_REFUSED" }],
    ["untrusted", "/", { status: undefined, text: "", error: "ERR_CERT_AUTHORITY_INVALID" }],
  ])("sees what %s%s shows it", async (site, path, expected) => {
    expect((await visit(shell, site, path)).visit).toMatchObject({ error: undefined, ...expected });
  });

  // LOOKUP-90
  test.each([
    ["a refusal", "by-path", "/denied", denied],
    ["a refusal for the country", "only-germany", "/", { status: 451 }],
    ["a fault", "failing-shop", "/", { status: 500, text: "Internal Server Error" }],
    ["a small page", "consent-first", "/", { status: 200, title: "Before you continue" }],
    ["an empty page", "blank-shop", "/", { status: 200, text: "" }],
  ])("does not wait for %s that can lead nowhere", async (_name, site, path, expected) => {
    // A visit that waits has no time left.
    const limits = { timeMs: 20_000, patienceMs: 60_000 };
    expect((await visit(shell, site, path, { limits })).visit).toMatchObject({ error: undefined, ...expected });
  });

  // LOOKUP-90
  test.each(["/header", "/meta", "/frame", "/attribute", "/vanished"])(
    "follows a refusal that leads on by %s",
    async (path) => {
      const { visit: seen } = await visit(shell, "leading-by", path, { limits: { patienceMs: 10_000 } });
      expect(seen).toMatchObject({ ...goods, url: internet.url("leading-by", "/end") });
    },
  );

  test("sees a site that refuses every other request do so", async () => {
    expect((await visit(shell, "flaky-shop")).visit).toMatchObject(denied);
    expect((await visit(shell, "flaky-shop")).visit).toMatchObject(goods);
  });

  // LOOKUP-66, LOOKUP-67
  test("asks robots.txt first where it shall", async () => {
    const refused = { error: "ROBOTS_DISALLOWED", status: undefined, text: "" };
    const ask = async (site: string, path: string, robotsAgent: string) =>
      (await visit(shell, site, path, { robotsAgent })).visit;
    expect(await ask("polite-shop", "/private", "browserpool")).toMatchObject(refused);
    expect(await ask("polite-shop", "/open", "browserpool")).toMatchObject(goods);
    expect(await ask("polite-shop", "/open", "otherbot")).toMatchObject(refused);
    expect((await visit(shell, "polite-shop", "/private")).visit).toMatchObject(goods);
    // It has none; it fails; it is elsewhere; nobody answers.
    expect(await ask("by-path", "/", "browserpool")).toMatchObject(goods);
    expect(await ask("broken-shop", "/", "browserpool")).toMatchObject(refused);
    expect(await ask("moved-shop", "/", "browserpool")).toMatchObject({ error: undefined, ...goods });
    expect(await ask("dead", "/", "browserpool")).toMatchObject({ error: "ERR_CONNECTION_REFUSED" });
  });

  // LOOKUP-67
  test("reads no more of robots.txt than its bound", async () => {
    const { visit: seen } = await visit(shell, "endless-robots", "/", { robotsAgent: "browserpool" });
    expect(seen).toMatchObject({ status: 200, error: undefined });
  });
});

describe("other browsers and ways", () => {
  test.each([
    ["plain headful", { headless: false, stealth: false }, denied],
    ["stealth headful", { headless: false, stealth: true }, goods],
    ["stealth headless", { headless: true, stealth: true }, goods],
  ])("%s", async (_, browser, byDriver) => {
    const agent = await start(browser);
    expect((await visit(agent, "no-headless")).visit).toMatchObject(goods);
    expect((await visit(agent, "no-drivers")).visit).toMatchObject(byDriver);
    expect((await visit(agent, "blank-shop")).visit).toMatchObject({ isBlank: true });
    expect((await visit(agent, "captcha-shop")).visit.frames).toHaveLength(1);
  });

  test.each(["US", "DE"] as const)("through the proxy of %s", async (place) => {
    const { port } = internet.proxies[place];
    const proxies = [{ id: "p", protocol: "http" as const, host: internet.address, port, bypass_hosts: [] }];
    const agent = await start({ headless: true }, { setup: { network: { proxies, proxy: "p" } } });
    expect((await visit(agent, "no-data-centres")).visit).toMatchObject(goods);
    expect((await visit(agent, "only-germany")).visit).toMatchObject(place === "DE" ? goods : { status: 451 });
    expect((await visit(agent, "polite-shop", "/private", { robotsAgent: "me" })).visit.error).toBe(
      "ROBOTS_DISALLOWED",
    );
    expect(internet.proxies[place].seen.join()).toMatch(/polite-shop\.example:\d+\/robots\.txt/);
  });

  test("behind a wall without a proxy", async () => {
    const agent = await start({ headless: true }, { setup: { network: {} } });
    expect((await visit(agent, "open-shop")).visit).toMatchObject(goods);
    expect((await visit(agent, "no-data-centres")).visit).toMatchObject(denied);
  });

  // LOOKUP-91
  test("what the wall says is not what the site says", async () => {
    const agent = await start({ headless: true }, { setup: { network: {} } });
    const unreachable = { error: "ERR_ADDRESS_UNREACHABLE" };
    const refused = { error: "ERR_BLOCKED_BY_CLIENT" };
    const more = { hasProxy: false };
    expect((await visit(agent, "dead", "/", more)).visit).toMatchObject(unreachable);
    expect((await visit(agent, "dead", "/", { ...more, robotsAgent: "me" })).visit).toMatchObject(unreachable);
    expect((await visit(agent, "dead-secure", "/", more)).visit).toMatchObject(unreachable);
    const inside = { connect: devToolsOf(agent), url: "http://169.254.169.254/" };
    expect((await visitPage(inside, new AbortController().signal)).visit).toMatchObject(refused);
    expect((await visit(agent, "posing-shop")).visit).toMatchObject({ status: 502, error: undefined });
  });

  // LOOKUP-91
  test("behind a proxy that is down", async () => {
    const proxies = [{ id: "p", protocol: "http" as const, host: internet.address, port: 1, bypass_hosts: [] }];
    const agent = await start({ headless: true }, { setup: { network: { proxies, proxy: "p" } } });
    for (const more of [{}, { robotsAgent: "me" }])
      expect((await visit(agent, "open-shop", "/", more)).visit.error).toBe("ERR_PROXY_CONNECTION_FAILED");
    expect((await visit(agent, "dead-secure")).visit.error).toBe("ERR_TUNNEL_CONNECTION_FAILED");
  });
});

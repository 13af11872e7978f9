/**
 * What an agent tells of a session's first navigation, and what it does not: a real agent, its browser, and the local
 * internet.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { purposeHeader } from "../../../../src/core/protocol/agent-api.ts";
import { type CdpConnection, connectCdp } from "../../../../src/platform/cdp/cdp-connection.ts";
import { createTestAgents, type TestAgent } from "../../../support/agent-process.ts";
import { changeBrowser } from "../../../support/change-agent.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Internet, startInternet } from "../../../support/internet/internet.ts";
import { devToolsOf, internetEnv, session } from "../../../support/visited-agent.ts";

const agents = createTestAgents();
const stack = new AsyncDisposableStack();
stack.use(agents);
let internet: Internet;
let seq = 0;

/** A navigation is followed for 15 s at most. */
const toldWithinMs = 30_000;

const outcomeOf = async (agent: TestAgent) => (await agent.call("GET", "/state")).body.outcome;

/** Waits for what the agent tells after a navigation. */
const told = (agent: TestAgent) => eventually("the agent tells an outcome", () => outcomeOf(agent), toldWithinMs);

type Holder = { cdp: CdpConnection; page: string; [Symbol.asyncDispose](): Promise<void> };

/** The holder's client. It has one page, and enables nothing in it. */
const hold = async (agent: TestAgent): Promise<Holder> => {
  const cdp = await connectCdp(devToolsOf(agent), new AbortController().signal);
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  const targetId =
    targetInfos.find(({ type }) => type === "page")?.targetId ??
    (await cdp.send("Target.createTarget", { url: "about:blank" })).targetId;
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  return { cdp, page: sessionId, [Symbol.asyncDispose]: () => cdp[Symbol.asyncDispose]() };
};

/** Navigates, and waits until the page is there. */
const goto = async ({ cdp, page }: Holder, url: string): Promise<void> => {
  await cdp.send("Page.navigate", { url }, { sessionId: page });
  await eventually("the page is there", async () => {
    const { result } = await cdp.send(
      "Runtime.evaluate",
      { expression: "document.readyState === 'complete' && location.href !== 'about:blank'" },
      { sessionId: page },
    );
    return result.value === true;
  });
};

/** Whether the agent is done with watching: then nothing is attached to the pages but the holder. */
const isWatched = async ({ cdp }: Holder): Promise<boolean> => {
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  const { targetInfos } = await cdp.send("Target.getTargets", {});
  await cdp.send("Target.closeTarget", { targetId });
  return targetInfos.find((info) => info.targetId === targetId)?.attached === true;
};
const unwatched = (holder: Holder): Promise<unknown> =>
  eventually("nobody watches the pages", async () => !(await isWatched(holder)), toldWithinMs);
const watched = (holder: Holder): Promise<unknown> => eventually("the pages are watched", () => isWatched(holder));

beforeAll(async () => {
  internet = stack.use(await startInternet());
});
afterAll(() => stack.disposeAsync());

/** A session of this test. The browser is made anew before it. */
const observed = async (agent: TestAgent, more: object = { observe: true }): Promise<Holder> => {
  if (seq > 0) await agent.release(session, seq, "reset");
  await agent.call("GET", "/reset");
  seq += 1;
  await agent.bind(session, seq, more);
  const holder = await hold(agent);
  if ("observe" in more) await watched(holder);
  return holder;
};

const kinds: [string, { headless: boolean; stealth?: boolean }][] = [
  ["a headless browser", { headless: true }],
  ["a headful browser", { headless: false, stealth: true }],
];

// LOOKUP-80, LOOKUP-83, LOOKUP-88
test.each(kinds)(
  "the first navigation of %s is told, without query, fragment and login, and no later one",
  async (_, kind) => {
    seq = 0;
    const agent = await agents.start(kind, { env: internetEnv(internet) });
    await using holder = await observed(agent);
    await goto(holder, internet.url("open-shop", "/lamps/?secret=1#secret").replace("http://", "http://me:secret@"));
    const expected = { session_id: session, target: internet.url("open-shop", "/lamps"), verdict: "accessed" };
    expect(await told(agent)).toEqual(expected);
    await goto(holder, internet.url("by-path", "/denied"));
    await unwatched(holder);
    expect(await outcomeOf(agent)).toEqual(expected);
    // The end of the session says it too, and the next session says nothing of it.
    expect((await agent.release(session, seq, "reset")).body.outcome).toEqual(expected);
    await agent.call("GET", "/reset");
    seq += 1;
    expect((await agent.bind(session, seq)).body.outcome).toBeUndefined();
    expect(agent.log()).not.toMatch(/open-shop|secret|harbour/i);
  },
);

describe("the verdict", () => {
  let agent: TestAgent;
  beforeAll(async () => {
    seq = 0;
    agent = await agents.start({ headless: true }, { env: internetEnv(internet) });
  });

  test.each([
    ["that refuses", "by-path", "/denied", "blocked"],
    ["that asks for patience and never lets in", "by-path", "/challenge", "blocked"],
    ["that lets in after its check", "soft-wall", "/", "accessed"],
    ["that shows its text late", "late-shop", "/", "accessed"],
    ["that leads to another page of its own", "hopping-shop", "/", "accessed"],
  ])("of a page %s is that of a visit", async (_name, site, path, verdict) => {
    await using holder = await observed(agent);
    await holder.cdp.send("Page.navigate", { url: internet.url(site, path) }, { sessionId: holder.page });
    await unwatched(holder);
    expect(await outcomeOf(agent)).toMatchObject({ target: internet.url(site, path), verdict });
  });

  test("is there when a client navigates a new page at once", async () => {
    await using holder = await observed(agent);
    const { cdp } = holder;
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
    const { sessionId: page } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    await goto({ ...holder, page }, internet.url("open-shop"));
    expect(await told(agent)).toMatchObject({ verdict: "accessed" });
    await unwatched(holder);
  });

  test("is there when a client leaves the page as soon as it is loaded", async () => {
    await using holder = await observed(agent);
    // The judge's thread has read its rules.
    await goto(holder, `http://${internet.address}:1/`).catch(() => undefined);
    await goto(holder, internet.url("open-shop"));
    await told(agent);
    await goto(holder, internet.url("by-path", "/denied"));
    expect((await agent.release(session, seq, "reset")).body.outcome).toMatchObject({ verdict: "accessed" });
  });
});

// LOOKUP-83
describe("nothing is told", () => {
  let agent: TestAgent;
  beforeAll(async () => {
    seq = 0;
    agent = await agents.start({ headless: true }, { env: internetEnv(internet) });
  });
  const open = (): string => internet.url("open-shop");

  const cases: [string, (holder: Holder) => Promise<unknown>][] = [
    [
      "that has a cookie already",
      async ({ cdp }) => cdp.send("Storage.setCookies", { cookies: [{ name: "a", value: "b", url: open() }] }),
    ],
    [
      "with headers for a login",
      async ({ cdp, page }) => {
        await cdp.send("Network.enable", {}, { sessionId: page });
        await cdp.send(
          "Network.setExtraHTTPHeaders",
          { headers: { Authorization: "Basic eDp5" } },
          { sessionId: page },
        );
      },
    ],
    [
      "with another user agent",
      ({ cdp, page }) =>
        cdp.send("Emulation.setUserAgentOverride", { userAgent: "Mozilla/5.0 (Other)" }, { sessionId: page }),
    ],
    [
      "in a browser that its holder has changed",
      async () => {
        const viewport = { width: 700, height: 500 };
        expect(await changeBrowser(agent, seq, { session_id: session, viewport })).toMatchObject({ status: 200 });
      },
    ],
    [
      "after a fill",
      async () => {
        const address = devToolsOf(agent);
        const headers = { ...address.headers, [purposeHeader]: "fill" };
        await using _fill = await connectCdp({ ...address, headers }, new AbortController().signal);
      },
    ],
    [
      "whose answer its holder has made up",
      async ({ cdp, page }) => {
        await cdp.send("Fetch.enable", {}, { sessionId: page });
        cdp.onEvent(({ method, params }) => {
          if (method !== "Fetch.requestPaused") return;
          const { requestId } = params as { requestId: string };
          const body = Buffer.from("<title>Shop</title>").toString("base64");
          void cdp.send("Fetch.fulfillRequest", { requestId, responseCode: 200, body }, { sessionId: page });
        });
      },
    ],
  ];
  test.each(cases)("of a navigation %s", async (_name, prepare) => {
    await using holder = await observed(agent);
    await prepare(holder);
    await goto(holder, open());
    await unwatched(holder);
    expect(await outcomeOf(agent)).toBeUndefined();
  });

  test("of a form that is sent", async () => {
    await using holder = await observed(agent);
    const { cdp, page } = holder;
    const form = `<form method="post" action="${open()}"><input name="a"></form>`;
    await cdp.send("Page.navigate", { url: `data:text/html,${encodeURIComponent(form)}` }, { sessionId: page });
    await eventually("the form is sent", async () => {
      const expression = "document.forms[0]?.submit(); location.protocol === 'http:'";
      return (await cdp.send("Runtime.evaluate", { expression }, { sessionId: page })).result.value === true;
    });
    await unwatched(holder);
    expect(await outcomeOf(agent)).toBeUndefined();
  });

  test("of the start page, and of addresses inside; what comes after them is the first navigation", async () => {
    await using holder = await observed(agent, { observe: true, start_url: open() });
    const { port } = new URL(open());
    await goto(holder, open());
    await goto(holder, `http://${internet.address}:${port}/`);
    expect([await outcomeOf(agent), await isWatched(holder)]).toEqual([undefined, true]);
    await goto(holder, internet.url("consent-first"));
    expect(await told(agent)).toMatchObject({ target: internet.url("consent-first") });
  });

  // LOOKUP-81
  test("of a session that does not allow it, which nothing watches", async () => {
    await using holder = await observed(agent, {});
    expect(await isWatched(holder)).toBe(false);
    await goto(holder, open());
    expect([await outcomeOf(agent), await isWatched(holder)]).toEqual([undefined, false]);
  });
});

// LOOKUP-80, LOOKUP-83
test("a site is judged through a proxy as well, and what the wall answers in its place is none of its faults", async () => {
  const through = async (port: number, rules: { allowed_hosts?: string[] } = {}): Promise<TestAgent> => {
    seq = 0;
    const proxies = [{ id: "p", protocol: "http" as const, host: internet.address, port, bypass_hosts: [] }];
    return agents.start(
      { headless: true },
      { env: internetEnv(internet), setup: { network: { ...rules, proxies, proxy: "p" } } },
    );
  };
  const proxied = await through(internet.proxies.US.port);
  await using holder = await observed(proxied);
  await goto(holder, internet.url("no-data-centres"));
  await unwatched(holder);
  expect(await outcomeOf(proxied)).toMatchObject({ verdict: "accessed" });

  for (const walled of [await through(1), await through(internet.proxies.US.port, { allowed_hosts: ["a.example"] })]) {
    seq = 0;
    await using other = await observed(walled);
    await other.cdp.send("Page.navigate", { url: internet.url("no-data-centres") }, { sessionId: other.page });
    await unwatched(other);
    expect(await outcomeOf(walled)).toBeUndefined();
  }
});

// LOOKUP-80
test("a page notices nothing of being watched, and neither does a client that does not ask for it", async () => {
  seq = 0;
  const agent = await agents.start({ headless: true }, { env: internetEnv(internet) });
  await using holder = await observed(agent);
  const { cdp, page } = holder;
  const noticed: string[] = [];
  cdp.onEvent(({ method }) => noticed.push(method));
  // Whoever enables Runtime reads what a page logs.
  const signs = `(() => {
    const seen = [];
    const trap = new Error("trap");
    Object.defineProperty(trap, "stack", { get() { seen.push("stack"); return ""; } });
    setInterval(() => console.debug(trap), 20);
    const own = Object.getOwnPropertyNames(window).length;
    return () => ({ seen, names: Object.getOwnPropertyNames(window).length - own - 1 });
  })()`;
  await cdp.send("Page.enable", undefined, { sessionId: page });
  await cdp.send("Page.addScriptToEvaluateOnNewDocument", { source: `window.signs = ${signs}` }, { sessionId: page });
  await goto(holder, internet.url("open-shop"));
  await unwatched(holder);
  expect(await told(agent)).toMatchObject({ verdict: "accessed" });
  const { result } = await cdp.send(
    "Runtime.evaluate",
    { expression: "signs()", returnByValue: true },
    { sessionId: page },
  );
  expect(result.value).toEqual({ seen: [], names: 0 });
  expect(noticed.filter((method) => !/^(Page|Target)\./.test(method))).toEqual([]);
});

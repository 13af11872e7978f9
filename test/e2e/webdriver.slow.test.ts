/** What a `webdriver_ws_url` allows, to which client, and how long. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket as WsClient } from "ws";
import { connectRawBidi, type RawBidi } from "../support/bidi/raw-bidi.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { processesOf, type SeenProcess } from "../support/processes.ts";
import { tabUrls, withCdp } from "../support/raw-cdp.ts";
import { upgrade } from "../support/raw-http.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let poolId: string;
beforeAll(async () => {
  stack = await startProject();
  poolId = (await filledPool(stack.kernel, { size: 1, reuse_policy: "keep" })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Urls = { session_id: string; cdp_ws_url: string; webdriver_ws_url: string };

const acquire = (): Promise<Urls> => stack.kernel.browserPools.acquire(poolId, { acquire_timeout_seconds: 30 });

const release = (session_id: string): Promise<void> =>
  stack.kernel.browserPools.release(poolId, { session_id, reuse: true });

const using = async <T>(work: (session: Urls) => Promise<T>): Promise<T> => {
  const session = await acquire();
  try {
    return await work(session);
  } finally {
    await release(session.session_id).catch(() => undefined);
  }
};

const withBidi = async <T>(url: string, work: (bidi: RawBidi) => Promise<T>): Promise<T> => {
  const bidi = await connectRawBidi(url);
  try {
    return await work(bidi);
  } finally {
    await bidi.close();
  }
};

/** The processes for WebDriver BiDi of this installation. */
const bidiProcesses = async (): Promise<SeenProcess[]> =>
  (await processesOf(stack.dataDir)).filter(({ commandLine }) => commandLine.includes("agent/main.ts"));

const newTab = async (bidi: RawBidi): Promise<string> =>
  (await bidi.send<{ context: string }>("browsingContext.create", { type: "tab" })).context;

const evaluate = async (bidi: RawBidi, context: string, expression: string): Promise<unknown> => {
  const target = { context };
  const answer = await bidi.send<{ result: { value?: unknown } }>("script.evaluate", {
    ...{ expression, target, awaitPromise: false },
  });
  return answer.result.value;
};

describe("a session's webdriver_ws_url", () => {
  // LEASE-57
  test("opens a session of BiDi by session.new or by the first command, and one only", () =>
    using(({ webdriver_ws_url }) =>
      withBidi(webdriver_ws_url, async (bidi) => {
        expect(await bidi.send("session.status")).toMatchObject({ ready: true });
        await expect(bidi.send("session.end")).rejects.toThrow("invalid session id");
        for (const asked of [{ browserName: "firefox" }, { proxy: { proxyType: "manual", httpProxy: "a.test:1" } }])
          await expect(bidi.send("session.new", { capabilities: { alwaysMatch: asked } })).rejects.toThrow(
            "session not created",
          );
        const { capabilities } = await bidi.send("session.new", {
          capabilities: { firstMatch: [{ browserName: "chrome" }] },
        });
        expect(capabilities).toMatchObject({ browserName: "chrome", platformName: "linux" });
        await expect(bidi.send("session.new", { capabilities: {} })).rejects.toThrow("session not created");
        expect(await bidi.send("session.end")).toEqual({});
        expect(await bidi.closed).toMatchObject({ code: 1000 });
        await withBidi(webdriver_ws_url, async (attached) => {
          expect(await attached.send("browsingContext.getTree")).toHaveProperty("contexts");
          expect(await attached.send("session.status")).toMatchObject({ ready: false });
        });
      }),
    ));

  // LEASE-60
  test("creates tabs that its intercepts hold from their first request on", () =>
    using(({ webdriver_ws_url }) =>
      withBidi(webdriver_ws_url, async (bidi) => {
        await bidi.send("session.subscribe", { events: ["network.beforeRequestSent"] });
        await bidi.send("network.addIntercept", { phases: ["beforeRequestSent"] });
        for (let time = 0; time < 12; time++) {
          const since = bidi.events.length;
          const context = await newTab(bidi);
          const navigated = bidi.send("browsingContext.navigate", { context, url: "http://nowhere.test/" });
          const held = bidi.event("network.beforeRequestSent", since, (params) => params.context === context);
          const { isBlocked, request } = (await held) as { isBlocked: boolean; request: { request: string } };
          expect(isBlocked).toBe(true);
          await Promise.allSettled([bidi.send("network.failRequest", { request: request.request }), navigated]);
          await bidi.send("browsingContext.close", { context });
        }
      }),
    ));

  // LEASE-13
  test("shows and drives the same pages as CDP at the same time", () =>
    using(({ webdriver_ws_url, cdp_ws_url }) =>
      withBidi(webdriver_ws_url, (bidi) =>
        withCdp(cdp_ws_url, async (cdp) => {
          const byBidi = await newTab(bidi);
          await bidi.send("browsingContext.navigate", {
            context: byBidi,
            url: "data:text/plain,bidi",
            wait: "complete",
          });
          expect(await tabUrls(cdp)).toContain("data:text/plain,bidi");
          const { targetId } = await cdp.send<{ targetId: string }>("Target.createTarget", {
            url: "data:text/plain,cdp",
          });
          expect(
            await eventually("BiDi sees the tab", () =>
              evaluate(bidi, targetId, "location.href").catch(() => undefined),
            ),
          ).toBe("data:text/plain,cdp");
          for (const context of [byBidi, targetId]) await bidi.send("browsingContext.close", { context });
          expect(await tabUrls(cdp)).not.toContain("data:text/plain,cdp");
        }),
      ),
    ));

  // LEASE-18, LEASE-19, LEASE-20
  test("ends with its lease, and takes no other session's token", async () => {
    const former = await acquire();
    const bidi = await connectRawBidi(former.webdriver_ws_url);
    await bidi.send("browsingContext.getTree");
    expect(await bidiProcesses()).toHaveLength(1);
    await release(former.session_id);
    expect(await bidi.closed).toEqual({ code: 4000, reason: "the session has ended: released" });
    await eventually("its process ends", async () => (await bidiProcesses()).length === 0);
    await using(async ({ webdriver_ws_url }) => {
      const stolen = new URL(webdriver_ws_url);
      stolen.searchParams.set("jwt", new URL(former.webdriver_ws_url).searchParams.get("jwt") ?? "");
      expect((await upgrade(stolen.href)).status).toBe(401);
      expect((await upgrade(former.webdriver_ws_url)).status).toBe(404);
    });
  });
});

describe("a hostile client", () => {
  // LEASE-58
  test("gets an error for what is no command, and is cut off for what is no text or too long", () =>
    using(async ({ webdriver_ws_url, cdp_ws_url }) => {
      await withBidi(webdriver_ws_url, async (bidi) => {
        for (const text of [
          "",
          "}{",
          "null",
          "[]",
          "{}",
          '{"id":-1,"method":"a","params":{}}',
          '{"method":"a"}',
          `{"id":0,"method":"a","params":${"[".repeat(100_000)}`,
        ])
          expect(await bidi.sendRaw(text)).toMatchObject({ type: "error", id: null, error: "invalid argument" });
        for (const method of ["__proto__", "constructor", "session.constructor"])
          await expect(bidi.send(method)).rejects.toThrow("unknown command");
        await expect(bidi.send("browsingContext.navigate", { context: [], url: {} })).rejects.toThrow(
          "invalid argument",
        );
        expect(await bidi.send("browsingContext.getTree")).toHaveProperty("contexts");
        bidi.sendRaw(new Uint8Array(1)).catch(() => undefined);
        expect(await bidi.closed).toEqual({ code: 1003, reason: "messages are text" });
      });
      await withBidi(webdriver_ws_url, async (bidi) => {
        bidi.sendRaw("x".repeat(17 * 1024 * 1024)).catch(() => undefined);
        expect((await bidi.closed).code).not.toBe(1000);
      });
      await withCdp(cdp_ws_url, (cdp) => cdp.send("Browser.getVersion"));
    }));

  // LEASE-58
  test("is cut off when it does not read", () =>
    using(async ({ webdriver_ws_url, cdp_ws_url }) => {
      const context = await withBidi(webdriver_ws_url, newTab);
      const socket = new WsClient(webdriver_ws_url);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      await new Promise((resolve) => socket.once("open", resolve));
      socket.pause();
      const params = { expression: "'x'.repeat(3e6)", target: { context }, awaitPromise: false };
      for (let id = 0; id < 24; id++) socket.send(JSON.stringify({ id, method: "script.evaluate", params }));
      let answers = 0;
      socket.on("message", () => {
        answers += 1;
      });
      await eventually("its process ends", async () => (await bidiProcesses()).length === 0);
      socket.resume();
      await closed;
      expect(answers).toBeLessThan(24);
      await withCdp(cdp_ws_url, (cdp) => cdp.send("Target.closeTarget", { targetId: context }));
    }));

  // LEASE-58
  test("gets no ninth connection at a time", () =>
    using(async ({ webdriver_ws_url }) => {
      const eight = await Promise.all(Array.from({ length: 8 }, () => connectRawBidi(webdriver_ws_url)));
      const answer = await upgrade(webdriver_ws_url);
      expect([answer.status, answer.text]).toEqual([429, expect.stringContaining("8 connections")]);
      await Promise.all(eight.map((bidi) => bidi.close()));
      await eventually("a connection is taken again", async () => (await upgrade(webdriver_ws_url)).status === 101);
    }));
});

// LEASE-58
test("a page that says too much ends the connection, and neither the session nor the agent", () =>
  using(({ webdriver_ws_url, cdp_ws_url }) =>
    withBidi(webdriver_ws_url, async (bidi) => {
      const context = await newTab(bidi);
      await bidi.send("session.subscribe", { events: ["log.entryAdded"] });
      await evaluate(bidi, context, "void setTimeout(() => console.log('x'.repeat(7e7)))");
      expect(await bidi.closed).toMatchObject({ code: 1011 });
      await withCdp(cdp_ws_url, (cdp) => cdp.send("Target.closeTarget", { targetId: context }));
    }),
  ));

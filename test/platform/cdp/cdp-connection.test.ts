import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { type CdpConnection, connectCdp } from "../../../src/platform/cdp/cdp-connection.ts";

type Sent = { id: number; method: string; sessionId?: string };

/**
 * A browser that refuses `Page.reload`, closes the connection at `Page.close`, never answers `Page.stopLoading`, and
 * accepts the rest.
 */
let browser: WebSocketServer;
let cdp: CdpConnection;
const cut = new AbortController();

beforeEach(async () => {
  browser = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  browser.on("connection", (socket) =>
    socket.on("message", (data) => {
      const { id, method } = JSON.parse(String(data)) as Sent;
      if (method === "Page.close") return socket.close();
      if (method === "Page.stopLoading") return;
      const answer = method === "Page.reload" ? { error: { message: "no" } } : { result: {} };
      socket.send(JSON.stringify({ id, ...answer }));
    }),
  );
  await once(browser, "listening");
  const url = `ws://127.0.0.1:${(browser.address() as AddressInfo).port}`;
  cdp = await connectCdp({ url, headers: {} }, cut.signal);
});
afterEach(async () => {
  await cdp[Symbol.asyncDispose]();
  await new Promise((resolve) => browser.close(resolve));
});

const reloadPage = async (): Promise<void> => {
  await cdp.send("Page.reload", {});
};

test("the stack of a refusal begins with its name and message, and shows where the command was sent", async () => {
  const error = await reloadPage().catch((refusal: Error) => refusal);
  expect(error).toMatchObject({ name: "CdpRefused", message: "no" });
  expect(error?.stack).toMatch(/^CdpRefused: no\n/);
  expect(error?.stack).toContain("reloadPage");
});

test("a command without an answer rejects at its own deadline, and other commands continue", async () => {
  const waiting = cdp.send("Page.stopLoading", undefined, { sessionId: "other" });
  waiting.catch(() => undefined);
  await expect(cdp.send("Page.stopLoading", undefined, { timeoutMs: 20 })).rejects.toMatchObject({
    name: "CdpTimeout",
    message: "no answer within 20 ms",
  });
  expect(await Promise.race([waiting, cdp.send("Page.enable", {})])).toEqual({});
});

test("when the browser closes the connection every pending command rejects with its own stack, and later ones reject too", async () => {
  const stopLoading = async (): Promise<unknown> => cdp.send("Page.stopLoading", undefined);
  const closePage = async (): Promise<unknown> => cdp.send("Page.close", undefined);
  const [first, second] = await Promise.allSettled([stopLoading(), closePage()]);
  await cdp.closed;
  expect(first).toMatchObject({ status: "rejected", reason: { name: "CdpClosed" } });
  expect((first as PromiseRejectedResult).reason.stack).toContain("stopLoading");
  expect((second as PromiseRejectedResult).reason.stack).toContain("closePage");
  expect(cdp.isOpen()).toBe(false);
  await expect(reloadPage()).rejects.toMatchObject({ name: "CdpClosed" });
});

test("the sessions below one are those that are attached now, however many there were", async () => {
  const say = (method: string, sessionId: string): void => {
    for (const socket of browser.clients)
      socket.send(JSON.stringify({ method, params: { sessionId }, sessionId: "page" }));
  };
  for (const frame of ["a", "b"]) say("Target.attachedToTarget", frame);
  await cdp.send("Page.enable", {});
  expect(cdp.attachedBelow("page")).toEqual(["a", "b"]);
  say("Target.detachedFromTarget", "a");
  for (let n = 0; n < 100; n++)
    for (const method of ["Target.attachedToTarget", "Target.detachedFromTarget"]) say(method, `frame-${n}`);
  await cdp.send("Page.enable", {});
  expect(cdp.attachedBelow("page")).toEqual(["b"]);
});

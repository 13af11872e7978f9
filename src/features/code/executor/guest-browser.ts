/**
 * The browser of an executor's agent, as Playwright has it for a client: over CDP, whose bytes come through a pipe. It
 * leaves the first context as it is: other clients use it, too.
 */
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, type BrowserContext, type ConnectOverCDPTransport, chromium, type Page } from "playwright-core";
import { WebSocket } from "ws";
import { cdpFd, type ExecutorStart } from "../agent/executor-orders.ts";

/** Time for Playwright to see a tab that Chromium has, ms. */
const tabMs = 5000;
const pauseMs = 20;

/** Time for the browser to answer Playwright, ms. */
const connectMs = 15_000;

/** As Playwright's own connection. */
const mostMessageBytes = 256 * 1024 * 1024;

const openSocket = (): Promise<WebSocket> => {
  const pipe = new Socket({ fd: cdpFd });
  const socket = new WebSocket("ws://127.0.0.1/cdp", {
    createConnection: () => pipe,
    perMessageDeflate: false,
    maxPayload: mostMessageBytes,
  });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  socket.once("error", reject);
  socket.once("open", () => resolve(socket));
  // A pipe is open from the start, and says so to nobody.
  queueMicrotask(() => pipe.emit("connect"));
  return promise;
};

const transportOf = (socket: WebSocket): ConnectOverCDPTransport => {
  const transport: ConnectOverCDPTransport = {
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
  };
  // Each in a turn of its own, as in Playwright's own transports: what a message begins must be there for the next.
  socket.on("message", (data) => setImmediate(() => transport.onmessage?.(JSON.parse(String(data)))));
  socket.on("close", () => setImmediate(() => transport.onclose?.()));
  return transport;
};

type Tab = { page: Page; targetId: string; created: boolean };

export type GuestBrowser = {
  browser: Browser;
  /** The tab of this target; without one, or when it is gone, a new tab in the background. */
  tab(targetId: string | undefined): Promise<Tab>;
};

const idIn = async (context: BrowserContext, page: Page): Promise<string | undefined> => {
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send("Target.getTargetInfo");
  await session.detach();
  return targetInfo.targetId;
};

/** Rejects when the browser does not answer in time. */
export const connectGuest = async ({ downloads }: ExecutorStart): Promise<GuestBrowser> => {
  const transport = transportOf(await openSocket());
  const browser = await chromium.connectOverCDP(transport, {
    noDefaults: true,
    artifactsDir: downloads,
    timeout: connectMs,
  });
  const ids = new WeakMap<Page, string>();
  const idOf = async (page: Page): Promise<string | undefined> => {
    const known = ids.get(page) ?? (await idIn(page.context(), page).catch(() => undefined));
    if (known !== undefined) ids.set(page, known);
    return known;
  };
  const find = async (targetId: string): Promise<Page | undefined> => {
    for (const page of browser.contexts().flatMap((context) => context.pages()))
      if ((await idOf(page)) === targetId) return page;
    return undefined;
  };
  const appears = async (targetId: string): Promise<Page | undefined> => {
    const deadline = performance.now() + tabMs;
    for (;;) {
      const page = await find(targetId);
      if (page || performance.now() > deadline) return page;
      await sleep(pauseMs);
    }
  };
  const open = async (): Promise<Tab> => {
    const session = await browser.newBrowserCDPSession();
    const { targetId } = await session.send("Target.createTarget", { url: "about:blank", background: true });
    await session.detach();
    const page = await appears(targetId);
    if (!page) throw new Error("the new tab did not come");
    return { page, targetId, created: true };
  };
  return {
    browser,
    async tab(targetId) {
      const page = targetId === undefined ? undefined : await appears(targetId);
      return page && targetId !== undefined ? { page, targetId, created: false } : open();
    },
  };
};

/**
 * A Chromium from the moment at which it answers DevTools. It takes its time to get there, in which the agent loads this.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CdpConnection } from "../../platform/cdp/cdp-connection.ts";
import { type AgentViewport, ChromiumVersion } from "../protocol/agent-api.ts";
import type { BrowserParts, Wall } from "./browser-parts.ts";
import type { Chromium } from "./chromium.ts";
import type { WindowSize } from "./chromium-flags.ts";
import { awaitDevTools, placeOf } from "./connect-dev-tools.ts";
import { takingDownloads } from "./downloads.ts";
import { freeTabs } from "./free-tabs.ts";
import { openUrl } from "./open-url.ts";
import { followPageOrder } from "./page-order.ts";
import type { VirtualScreen } from "./virtual-screen.ts";
import { createWindows } from "./windows.ts";

const healthTimeoutMs = 2000;

/** A dying Chromium closes its connections just before its exit is seen. The exit tells more, so wait for it. */
const exitWaitMs = 300;

const createHealthCheck = (cdp: CdpConnection): Pick<Chromium, "isHealthy" | "version"> => {
  let running: Promise<boolean> | undefined;
  let version: string | undefined;
  const check = async (): Promise<boolean> => {
    try {
      const { product } = await cdp.send("Browser.getVersion", undefined, { timeoutMs: healthTimeoutMs });
      version ??= ChromiumVersion.safeParse(product.split("/").at(-1)).data;
      return true;
    } catch {
      return false;
    } finally {
      running = undefined;
    }
  };
  return {
    isHealthy() {
      running ??= check();
      return running;
    },
    version: () => version,
  };
};

type Started = {
  /** The URL that Chromium has printed. */
  ready: string;
  made: BrowserParts;
  /** What is around it, which starts beside it. */
  wall: Promise<Wall> | undefined;
  screen: VirtualScreen | undefined;
  /** With which Chromium was started. */
  viewport: AgentViewport;
  sizeFor(viewport: AgentViewport): WindowSize;
  /** Ends with Chromium. */
  stack: AsyncDisposableStack;
};

type Answering = {
  chromium: Pick<
    Chromium,
    "devTools" | "pageOrder" | "isHealthy" | "version" | "takeDownloads" | "open" | "resize" | "freeTabs" | "wall"
  >;
  /** Resolves with what happened when the connection ends. Never rejects. */
  closed: Promise<string>;
  /** Asks Chromium to end in order, and waits for nothing. `withinMs`: until its answer is not expected any more. */
  askToClose(withinMs: number): void;
};

/** Connects with a Chromium that has printed where it listens. Rejects when it does not answer as it should. */
export const reachChromium = async (
  { ready, made, wall: starting, screen, viewport, sizeFor, stack }: Started,
  signal: AbortSignal,
): Promise<Answering> => {
  const devTools = placeOf(ready, made.devToolsSocket);
  const cdp = await awaitDevTools(devTools, signal);
  // Not waited for: a Chromium that hangs does not close its side, and is killed next.
  stack.defer(() => void cdp[Symbol.asyncDispose]());
  const takeDownloads = takingDownloads(cdp, made.filesAt);
  const [pageOrder, wall] = await Promise.all([followPageOrder(cdp), starting, takeDownloads()]);
  await made.onUp(cdp);
  return {
    chromium: {
      ...{ devTools, pageOrder, wall },
      ...createHealthCheck(cdp),
      takeDownloads: () => void takeDownloads().catch(() => undefined),
      open: (url) => void openUrl(cdp, pageOrder, url).catch(() => undefined),
      resize: createWindows({ cdp, screen, viewport, sizeFor }).resize,
      freeTabs: (answerMs) => freeTabs(cdp, answerMs).catch(() => ({ closed: 0, isFree: false })),
    },
    closed: cdp.closed.then(() => sleep(exitWaitMs)).then(() => "Chromium closed its DevTools connection"),
    // It may end before it answers.
    askToClose: (withinMs) => void cdp.send("Browser.close", undefined, { timeoutMs: withinMs }).catch(() => undefined),
  };
};

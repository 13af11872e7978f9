/** Captures from one Chromium after the other, for as long as its lease and its settings last. */
import { setTimeout as sleep } from "node:timers/promises";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import { type CaptureDeps, startCapture } from "./capture.ts";

/** Pauses before a browser that could not be watched is tried again, ms; then it is left alone. */
const retryMs = [100, 300, 1000, 3000, 5000];

/** Largest message that is read from Chromium, bytes: a page can log a text of any length. A larger one is left out. */
const maxMessageBytes = 16 * 1024 * 1024;

type FollowDeps = Omit<CaptureDeps, "cdp"> & { devTools(): DevToolsPlace };

/** Captures until Chromium is gone or the signal is aborted. `started`: called when pages are watched. */
const captureOnce = async (deps: FollowDeps, signal: AbortSignal, started: () => void): Promise<void> => {
  const onLongEvent = (): void => deps.recorder.drop("too_large");
  await using cdp = await connectDevTools(deps.devTools(), { maxMessageBytes, onLongEvent });
  const stop = await startCapture({ ...deps, cdp });
  try {
    started();
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    if (!signal.aborted) await Promise.race([cdp.closed, aborted.promise]);
  } finally {
    stop();
  }
};

/** `onReady`: called each time when pages are watched from their first request on. Never rejects. */
export const followChromium = async (deps: FollowDeps, signal: AbortSignal, onReady: () => void): Promise<void> => {
  const { recorder, log } = deps;
  const source = { kind: "local_process" as const };
  let lostMs: number | undefined;
  let failures = 0;
  const started = (): void => {
    failures = 0;
    if (lostMs !== undefined)
      recorder.emit("monitor_reconnected", { reconnect_duration_ms: Math.round(performance.now() - lostMs) }, source);
    lostMs = undefined;
    onReady();
  };
  while (!signal.aborted && failures <= retryMs.length) {
    try {
      await captureOnce(deps, signal, started);
      if (signal.aborted) return;
      recorder.emit("monitor_disconnected", { reason: "chrome_restarted" }, source);
    } catch (error) {
      // Its text could name what the page is.
      log.warn({ why: error instanceof Error ? error.name : "unknown" }, "the browser can't be watched now");
    }
    lostMs ??= performance.now();
    await sleep(retryMs[failures] ?? 0, undefined, { signal }).catch(() => undefined);
    failures += 1;
  }
  if (!signal.aborted) recorder.emit("monitor_init_failed", { step: "connect" }, source);
};

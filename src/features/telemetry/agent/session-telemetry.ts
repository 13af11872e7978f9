/**
 * The telemetry of the lease that holds the browser.
 *
 *   nothing ──begin──► capturing ──end──► ended ──begin──► capturing …
 *
 * capturing  sources add events to the lease's recorder, by settings that may change; without settings nothing is added.
 * ended      the events of the last lease can be read until the next one begins.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectDevTools, type DevToolsPlace } from "../../../core/agent/connect-dev-tools.ts";
import { leaseIsOver } from "../../../core/agent/lease-fence.ts";
import type { ShownPages } from "../../../core/agent/shown-pages.ts";
import type { ClientWatch } from "../../../core/agent/upgrades.ts";
import type { BindLease } from "../../../core/protocol/agent-api.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { telemetryEventTypes } from "../telemetry-event.ts";
import type { CaptureDeps } from "./capture.ts";
import { createMaskedValues, type MaskedValues } from "./masked-values.ts";
import { type NotedSession, noteClient } from "./note-client.ts";
import { createRecorder, type Emit, type Kept, type Recorder } from "./recorder.ts";
import { type Capture, captureOf } from "./settings.ts";

// Captures from one Chromium after the other, for as long as its lease and its settings last.

/** Pauses before a browser that could not be watched is tried again, ms; then it is left alone. */
const retryMs = [100, 300, 1000, 3000, 5000];

/** Largest message that is read from Chromium, bytes: a page can log a text of any length. A larger one is left out. */
const maxMessageBytes = 16 * 1024 * 1024;

type FollowDeps = Omit<CaptureDeps, "cdp"> & { devTools(): DevToolsPlace };

/** Captures until Chromium is gone or the signal is aborted. `started`: called when pages are watched. */
const captureOnce = async (deps: FollowDeps, signal: AbortSignal, started: () => void): Promise<void> => {
  const onLongEvent = (): void => deps.recorder.drop("too_large");
  // Few sessions are captured: the code is loaded for them alone.
  const { startCapture } = await import("./capture.ts");
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
const followChromium = async (deps: FollowDeps, signal: AbortSignal, onReady: () => void): Promise<void> => {
  const { recorder, log } = deps;
  const source = { kind: "local_process" as const };
  let lostMs: number | undefined;
  let failures = 0;
  let wasWatched = false;
  const started = (): void => {
    failures = 0;
    wasWatched = true;
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
  if (signal.aborted) return;
  if (wasWatched) recorder.emit("monitor_reconnect_failed", { reason: "reconnect_exhausted" }, source);
  else recorder.emit("monitor_init_failed", { step: "connect" }, source);
};

/** How long a client waits for the capture at most, ms. */
const readyMs = 2000;

/** How long a reader waits for more after the first event, ms: a write for each would take more than all the rest. */
const gatherMs = 50;

export type SessionTelemetry = ClientWatch & {
  begin(lease: Pick<BindLease, "session_id" | "telemetry">): void;
  /** The lease is over. */
  end(): void;
  /** Its holder has changed the browser. */
  changed(outcome: string, restarted: boolean): void;
  /** Other settings for this lease, in place of those that it began with. */
  change(telemetry: object | undefined): void;
  /** The lease has values that must appear in no event; false when it has too many, or there is no lease. */
  mask(values: readonly string[]): boolean;
  /** A text without those values, cut after so many characters if there are any. */
  masked(text: string, maxChars?: number): string;
  /** Adds an event to the present lease, if its category is captured. */
  emit: Emit;
  /** A call of the holder is over (core/agent/call-routes.ts). */
  call(name: string, outcome: { status: number; durationMs: number }): void;
  /**
   * The events of this session after a number, as they come; undefined when it does not hold the browser and did not
   * last.
   */
  stream(session: string, after: number): ((signal: AbortSignal) => AsyncIterable<Kept>) | undefined;
};

type SessionTelemetryDeps = {
  /** The settings that the browser was made with, in their wire form. */
  base: object | undefined;
  browser: { devTools(): DevToolsPlace };
  shown: ShownPages;
  log: Logger;
};

type Session = NotedSession & {
  masked: MaskedValues;
  /** Ends what is captured now, for other settings or for good. */
  stop: AbortController;
  /** Resolves when pages are watched. */
  ready: Promise<void>;
};

/** Calls that drive the browser; the others are about what is beside it. */
const drives = /^(computer|playwright|webmcp)\/|^(repl|curl)$/;

const nothing: Capture = { categories: new Set(), excludedMethods: new Set() };

/**
 * The records after a number, until the recorder is closed and all of them were given. Throws the reason of `signal`.
 */
const readRecords = async function* (recorder: Recorder, after: number, signal: AbortSignal): AsyncGenerator<Kept> {
  let seq = after;
  for (;;) {
    signal.throwIfAborted();
    const isClosed = recorder.isClosed();
    const records = recorder.after(seq);
    for (const record of records) {
      yield record;
      seq = record.seq;
    }
    if (records.length === 0 && isClosed) return;
    if (records.length > 0) continue;
    await recorder.grown(seq, signal);
    await sleep(gatherMs, undefined, { signal });
  }
};

/** No lease yet. */
export const createSessionTelemetry = ({ base, browser, shown, log }: SessionTelemetryDeps): SessionTelemetry => {
  let session: Session | undefined;

  const start = (mine: Session): void => {
    const { recorder, answerers, capture } = mine;
    const { categories } = capture;
    if (categories.size === 0) return;
    const ready = Promise.withResolvers<void>();
    mine.ready = ready.promise;
    const { signal } = mine.stop;
    signal.addEventListener("abort", () => ready.resolve(), { once: true });
    const answersDialogs = (): boolean => answerers.size > 0;
    const deps = { devTools: browser.devTools, recorder, categories, shown, answersDialogs, log };
    void followChromium(deps, signal, ready.resolve).then(ready.resolve);
  };
  const end = (): void => {
    if (!session) return;
    session.stop.abort(leaseIsOver);
    for (const gone of session.clients) gone("context_cancelled");
    session.recorder.close();
  };

  const emit: Emit = (type, data, source) => {
    const { category } = telemetryEventTypes[type];
    if (session && category !== "monitor" && session.capture.categories.has(category))
      session.recorder.emit(type, data, source);
  };

  return {
    begin({ session_id, telemetry }) {
      end();
      const masked = createMaskedValues();
      session = {
        id: session_id,
        recorder: createRecorder(masked),
        masked,
        capture: captureOf(base, telemetry) ?? nothing,
        answerers: new Set(),
        clients: new Set(),
        stop: new AbortController(),
        ready: Promise.resolve(),
      };
      start(session);
    },
    end,
    changed(outcome, restarted) {
      emit("platform_browser_changed", { outcome, restarted }, { kind: "local_process" });
    },
    change(telemetry) {
      if (!session || session.recorder.isClosed()) return;
      session.stop.abort();
      session.stop = new AbortController();
      session.capture = captureOf(base, telemetry) ?? nothing;
      start(session);
    },
    mask: (values) => session?.masked.add(values) ?? false,
    masked: (text, maxChars) => String(session?.masked.mask(text, maxChars) ?? text),
    emit,
    call(name, { status, durationMs }) {
      const data = { operation_id: name, request_id: randomUUID(), status, duration_ms: durationMs };
      emit(drives.test(name) ? "api_call" : "platform_api_call", data, { kind: "kernel_api" });
    },
    async client(kind, socket, head) {
      if (!session || session.capture.categories.size === 0) return;
      const { ready } = session;
      noteClient(kind, session, { socket, head });
      await Promise.race([ready, sleep(readyMs, undefined, { ref: false })]);
    },
    fill(socket) {
      const sinceMs = performance.now();
      const mine = session;
      emit("platform_fill_started", {}, { kind: "local_process" });
      socket.once("close", () => {
        if (session !== mine) return;
        emit(
          "platform_fill_ended",
          { duration_ms: Math.round(performance.now() - sinceMs) },
          { kind: "local_process" },
        );
      });
    },
    stream(id, after) {
      if (session?.id !== id) return undefined;
      const { recorder } = session;
      return (signal) => readRecords(recorder, after, signal);
    },
  };
};

/**
 * The events of one lease: the newest of them, in order, until a reader has taken them. A reader that falls behind
 * loses the oldest and is told how many; nothing that is slow makes the browser wait.
 */
import { awaitWith } from "../../../platform/base/retry.ts";
import {
  maxEventBytes,
  maxEventText,
  type TelemetryEvent,
  type TelemetryEventData,
  type TelemetryEventType,
  telemetryEventTypes,
} from "../telemetry-event.ts";
import type { MaskedValues } from "./masked-values.ts";

/** What is kept of a lease's events, bytes of JSON: some seconds of a busy page with everything captured. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Events of one type in a second; more are dropped and counted. */
const maxPerSecond = 500;

/** Text and lists as long as the schema has them. */
const maxListed = 20;

/** What was dropped is told of within this, ms. */
const tellMs = 1000;

type EventSource = TelemetryEvent["source"];
type DropReason = TelemetryEventData<"monitor_events_dropped">["reason"];

export type Emit = <Type extends TelemetryEventType>(
  type: Type,
  data: TelemetryEventData<Type>,
  source?: EventSource,
) => void;

/** An event with its number: a `TelemetryRecord`. */
export type Kept = { seq: number; event: object };

export type Recorder = {
  emit: Emit;
  /** Counts an event that was dropped before it was made. */
  drop(reason: DropReason): void;
  /**
   * The kept events after this number, the oldest first. Where older ones are gone, the first of them says how many,
   * with the number of the last that is missing.
   */
  after(seq: number): Kept[];
  /**
   * Resolves when there is an event after this number, or the recorder is closed. Rejects with the reason of `signal`.
   */
  grown(seq: number, signal: AbortSignal): Promise<void>;
  /** No more events come. */
  close(): void;
  isClosed(): boolean;
};

/** Cuts what is too long; `cut` tells whether anything was. */
const bounded = (value: unknown, isPicture: boolean): { value: unknown; cut: boolean } => {
  let cut = false;
  const walk = (part: unknown): unknown => {
    if (typeof part === "string") {
      if (part.length <= maxEventText || isPicture) return part;
      cut = true;
      return part.slice(0, maxEventText);
    }
    if (Array.isArray(part)) {
      if (part.length > maxListed) cut = true;
      return part.slice(0, maxListed).map(walk);
    }
    if (part === null || typeof part !== "object") return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, walk(inner)]])),
    );
  };
  return { value: walk(value), cut };
};

const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000);

/** No event yet. `masked`: what appears in no event. */
export const createRecorder = (masked: Pick<MaskedValues, "mask">): Recorder => {
  const kept: (Kept & { bytes: number })[] = [];
  let changed: PromiseWithResolvers<void> | undefined;
  let bytes = 0;
  let lastSeq = 0;
  const dropped = new Map<DropReason, number>();
  let tellTimer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let second = { startMs: 0, counts: new Map<string, number>() };

  const wake = (): void => {
    changed?.resolve();
    changed = undefined;
  };
  const keep = (event: object): void => {
    lastSeq += 1;
    const size = JSON.stringify(event).length;
    kept.push({ seq: lastSeq, event, bytes: size });
    bytes += size;
    while (bytes > maxKeptBytes) bytes -= kept.shift()?.bytes ?? 0;
    wake();
  };

  const make = (type: TelemetryEventType, data: object, source: EventSource): void => {
    // What is cut first could keep a part of a value. A picture's base64 has values by chance only.
    const isPicture = type === "monitor_screenshot";
    const { value, cut } = bounded(isPicture ? data : masked.mask(data), isPicture);
    const { category } = telemetryEventTypes[type];
    keep({ type, category, source, ts: nowUs(), data: value, ...(cut && { truncated: true }) });
  };

  const tellDropped = (): void => {
    clearTimeout(tellTimer);
    tellTimer = undefined;
    for (const [reason, count] of dropped) make("monitor_events_dropped", { count, reason }, { kind: "local_process" });
    dropped.clear();
  };
  const drop = (reason: DropReason): void => {
    if (isClosed) return;
    dropped.set(reason, (dropped.get(reason) ?? 0) + 1);
    tellTimer ??= setTimeout(tellDropped, tellMs);
  };

  const isTooMany = (type: string): boolean => {
    const now = performance.now();
    if (now - second.startMs > 1000) second = { startMs: now, counts: new Map() };
    const count = (second.counts.get(type) ?? 0) + 1;
    second.counts.set(type, count);
    return count > maxPerSecond;
  };

  const gap = (from: number, first: number): Kept => {
    const event = {
      type: "monitor_events_dropped",
      category: "monitor",
      source: { kind: "local_process" },
      ts: nowUs(),
      data: { count: first - 1 - from, reason: "buffer_full" },
    };
    return { seq: first - 1, event };
  };

  return {
    emit(type, data, source = { kind: "cdp" }) {
      if (isClosed) return;
      if (isTooMany(type)) drop("too_many");
      else make(type, data, source);
    },
    drop,
    after(seq) {
      const from = kept.findIndex((one) => one.seq > seq);
      const first = kept[from];
      if (!first) return [];
      const rest = kept.slice(from).map((one) => ({ seq: one.seq, event: one.event }));
      return first.seq > seq + 1 ? [gap(seq, first.seq), ...rest] : rest;
    },
    async grown(seq, signal) {
      if (lastSeq > seq || isClosed) return;
      changed ??= Promise.withResolvers();
      await awaitWith(changed.promise, signal);
    },
    close() {
      tellDropped();
      isClosed = true;
      wake();
    },
    isClosed: () => isClosed,
  };
};

/** Whether a picture fits into an event, by its base64. */
export const isPictureSmall = (base64: string): boolean => base64.length < maxEventBytes - 4096;

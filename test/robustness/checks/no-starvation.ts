/**
 * Nobody waits in vain, as the callers themselves see it:
 *
 *   passed over   callers who came clearly later are served again and again
 *   next to idle  its pool has an idle browser all the while, and no fault is at work
 */
import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { replayLeases } from "./lease-replay.ts";
import { type FaultSpan, faultSpansOf, groupBy, isCalm, type Operation, operationsOf } from "./views.ts";

/**
 * A caller has come later than another when its call began this much later, ms: requests overtake each other on their
 * way.
 */
const laterMs = 500;

/** A waiting caller whom Redis has forgotten is found by its replica within ten seconds; with a margin, ms. */
const passedOverMs = 15_000;

/** A browser that is idle and a caller who waits meet in one script; this is for requests on their way, ms. */
const nextToIdleMs = 3000;

/** How long after a fault callers and browsers may still be looking for each other, ms. */
const recoveryMs = 12_000;

type Waiter = { call: EventOf<"call">; untilMs: number };

const waitersOf = (operations: Operation[]): Waiter[] =>
  operations
    .filter(({ call }) => call.op === "acquire")
    .map(({ call, ended }) => ({ call, untilMs: ended?.at ?? call.at }));

const passedOver = (operations: Operation[]): Violation[] => {
  const served = operations
    .filter(({ call, ended }) => call.op === "acquire" && ended?.outcome === "held")
    .toSorted((a, b) => a.call.at - b.call.at);
  return waitersOf(operations).flatMap(({ call, untilMs }): Violation[] => {
    if (untilMs - call.at < passedOverMs) return [];
    const later = served.filter((other) => {
      const atMs = other.ended?.at ?? 0;
      return other.call.at > call.at + laterMs && atMs < untilMs;
    });
    const first = later.reduce<number | undefined>(
      (min, { ended }) => Math.min(min ?? Infinity, ended?.at ?? Infinity),
      undefined,
    );
    if (first === undefined) return [];
    const after = later.find(({ ended }) => (ended?.at ?? 0) > first + passedOverMs);
    if (!after?.ended) return [];
    return [
      {
        what: `${call.client} waited for ${Math.round(untilMs - call.at)} ms while later callers were served for ${Math.round(after.ended.at - first)} ms`,
        events: [call, after.call, after.ended],
      },
    ];
  });
};

type IdleSpan = { fromMs: number; untilMs: number; since: EventOf<"lease"> };

/** The times in which the pool had an idle browser. */
const idleSpans = (entries: EventOf<"lease">[], endMs: number): IdleSpan[] => {
  const spans: IdleSpan[] = [];
  let open: EventOf<"lease"> | undefined;
  replayLeases(entries, {
    after({ states }, event) {
      const hasIdle = [...states.values()].some(({ state }) => state === "idle");
      if (hasIdle && !open) open = event;
      if (!hasIdle && open) {
        spans.push({ fromMs: open.at, untilMs: event.at, since: open });
        open = undefined;
      }
    },
  });
  if (open) spans.push({ fromMs: open.at, untilMs: endMs, since: open });
  return spans;
};

const nextToIdle = (operations: Operation[], idle: IdleSpan[], faults: FaultSpan[]): Violation[] =>
  waitersOf(operations).flatMap(({ call, untilMs }): Violation[] => {
    const span = idle.find((one) => {
      const fromMs = Math.max(one.fromMs, call.at);
      const overlapMs = Math.min(one.untilMs, untilMs) - fromMs;
      return overlapMs > nextToIdleMs && isCalm(faults, fromMs - recoveryMs, fromMs + nextToIdleMs);
    });
    if (!span) return [];
    return [{ what: `${call.client} waited while its pool had an idle browser`, events: [span.since, call] }];
  });

export const noStarvation: Check = {
  name: "no-starvation",
  kind: "timing",
  promise: "no caller waits while later ones are served for long, or while a browser is idle",
  find(events) {
    const entries = groupBy(ofKind(events, "lease"), ({ pool }) => pool);
    const faults = faultSpansOf(events);
    const endMs = events.at(-1)?.at ?? 0;
    const pools = groupBy(operationsOf(events), ({ call }) => call.pool);
    return [...pools].flatMap(([pool, operations]) => [
      ...passedOver(operations),
      ...nextToIdle(operations, idleSpans(entries.get(pool) ?? [], endMs), faults),
    ]);
  },
};

/**
 * What a process holds does not grow from history to history. One sample says little (a pool of connections, a cache
 * that fills), so a rise counts only when the last third of a process' samples is clearly above the first third *and*
 * the samples rise steadily (Mann–Kendall test).
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { ProcessSample } from "../history/run-event.ts";
import type { Violation } from "./check.ts";
import { groupBy } from "./views.ts";

/** Fewer say nothing. */
const minSamples = 6;

/** Standard deviations above chance from which on a rise is taken for one: about 1 of 100 flat series reaches it. */
const significance = 2.33;

/**
 * By how much, over all histories of a run, each may rise: caches that fill, connections that stay open. An operator
 * that begins to lead has some twenty timers more than one that waits.
 */
const allowances: { [What in keyof ProcessSample]: number } = {
  heapBytes: 6 * 1024 * 1024,
  sockets: 12,
  fds: 12,
  timers: 40,
  children: 0,
};

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
};

/** Rising pairs minus falling pairs, in standard deviations of a series without any trend. */
const trend = (values: number[]): number => {
  const pairs = values.flatMap((value, index) => values.slice(index + 1).map((later) => Math.sign(later - value)));
  const n = values.length;
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  return pairs.reduce((sum, sign) => sum + sign, 0) / deviation;
};

/** How much a series has grown; 0 when that is chance or too little to tell. */
const growth = (values: number[]): number => {
  if (values.length < minSamples || trend(values) < significance) return 0;
  const third = Math.ceil(values.length / 3);
  return median(values.slice(-third)) - median(values.slice(0, third));
};

/** `events`: samples of all histories of a run, in their order. A process that was started anew begins anew. */
export const findGrowth = (events: HistoryEvent[]): Violation[] => {
  const samples = ofKind(events, "process").filter(({ what }) => what === "sample");
  return [...groupBy(samples, ({ name, pid }) => `${name}/${pid}`).values()].flatMap((series) =>
    Object.entries(allowances).flatMap(([what, allowance]): Violation[] => {
      const values = series.map(({ sample }) => sample?.[what as keyof ProcessSample] ?? 0);
      const rise = growth(values);
      if (rise <= allowance) return [];
      const [first] = series as [EventOf<"process">];
      return [{ what: `${what} of ${first.name} grows: ${values.join(", ")}`, events: series }];
    }),
  );
};

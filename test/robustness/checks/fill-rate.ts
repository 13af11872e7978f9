/**
 * Browsers are started one by one, `60 / r` seconds apart with `r = size × fill rate / 100`, so that no sliding minute
 * has more than `r` of them, whatever restarts in between. What a discard retired may be started at once, one for one.
 *
 * Times are those that the API server gave the pods, which are whole seconds.
 */
import { startIntervalMs } from "../../../src/core/model/pools/fill-pacing.ts";
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { type PoolSetting, poolSettings, settingsAt } from "./pool-requests.ts";
import { type FaultSpan, faultSpansOf, groupBy, isCalm } from "./views.ts";

/** What the API server cuts off its times, ms. */
const roundingMs = 1000;

/** A start is reserved first and asked for after; what comes in late may come close to the next one, ms. */
const lateMs = 1500;

/** How late it may be while the way to the API server is disturbed: the operator's patience with a request, ms. */
const disturbedLateMs = 6000;
const disturbances = ["apiserver-restart", "kube-cut-reply", "leader-freeze"];

type Start = { atMs: number; event: EventOf<"pod"> };

const startsOf = (pods: EventOf<"pod">[]): Start[] => {
  const known = new Set<string>();
  return pods
    .filter(({ change, browser }) => change === "ADDED" && !known.has(browser) && known.add(browser))
    .map((event) => ({ atMs: Date.parse(event.createdAt), event }));
};

/** When browsers were discarded to be rebuilt at once; each occasion permits one start. */
const permissionsOf = (events: HistoryEvent[], pool: string): number[] =>
  ofKind(events, "lease")
    .filter((event) => event.pool === pool)
    .flatMap(({ at, changes }) =>
      changes.flatMap((change) =>
        change.what === "state" && change.to === "retired" && change.reason === "Discarded" ? [at] : [],
      ),
    );

type Rules = { settings: PoolSetting[]; permissions: number[]; disturbed: FaultSpan[] };

/** How much too early a start may look. */
const toleranceMs = ({ event }: Start, disturbed: FaultSpan[]): number =>
  roundingMs + (isCalm(disturbed, event.at - disturbedLateMs, event.at) ? lateMs : disturbedLateMs);

/** The shortest time between two starts that any setting in force allows, ms. */
const shortest = (settings: PoolSetting[]): number => Math.min(...settings.map(startIntervalMs));

const find = (starts: Start[], { settings, permissions, disturbed }: Rules): Violation[] => {
  const unpaced = permissions.toSorted((a, b) => a - b);
  let last: (Start & { intervalMs: number }) | undefined;
  let dueMs = Number.NEGATIVE_INFINITY;
  return starts.flatMap((start): Violation[] => {
    const inForce = settingsAt(settings, start.event.at);
    if (inForce.length === 0) return [];
    const intervalMs = shortest(inForce);
    // A rate that was raised counts at once.
    const earliestMs = last && intervalMs < last.intervalMs ? Math.min(dueMs, last.atMs + intervalMs) : dueMs;
    if (Number.isFinite(intervalMs) && start.atMs >= earliestMs - toleranceMs(start, disturbed)) {
      dueMs = Math.max(start.atMs, earliestMs) + intervalMs;
      last = { ...start, intervalMs };
      return [];
    }
    if ((unpaced[0] ?? Number.POSITIVE_INFINITY) <= start.event.at) {
      unpaced.shift();
      return [];
    }
    const everyMs = Math.round(intervalMs);
    return [
      {
        what: `pool ${start.event.pool} started ${start.event.pod} before its time: one every ${everyMs} ms is allowed`,
        events: [...(last ? [last.event] : []), start.event],
      },
    ];
  });
};

export const fillRate: Check = {
  name: "fill-rate",
  kind: "safety",
  promise: "a pool starts browsers at its fill rate and no faster, over restarts and changes of leader too",
  find(events) {
    const settings = poolSettings(events);
    const disturbed = faultSpansOf(events).filter(({ fault }) => disturbances.includes(fault));
    const pools = groupBy(ofKind(events, "pod"), ({ pool }) => pool);
    return [...pools].flatMap(([pool, pods]) =>
      find(startsOf(pods), {
        settings: settings.get(pool) ?? [],
        permissions: permissionsOf(events, pool),
        disturbed,
      }),
    );
  },
};

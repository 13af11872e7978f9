import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { toldBinds } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { forcedDeletions, groupBy, type Hold } from "./views.ts";

/** A call and the deletion that it leads to may overtake each other in the records, ms. */
const slackMs = 50;

/** Uids of pods that were evicted: their deletion is not the service's, and ends nothing that is in use. */
const drained = (faults: EventOf<"fault">[]): Set<string> =>
  new Set(faults.flatMap(({ fault, details }) => (fault === "pod-drain" ? ((details?.pods ?? []) as string[]) : [])));

type Find = (browser: string, pool: string, at: number) => Hold | undefined;

/** Who counts on a browser at a time, unless its whole pool is deleted. */
const userOf = (events: HistoryEvent[]): Find => {
  const forced = forcedDeletions(events);
  const uses = groupBy([...toldBinds(events).values()], ({ bound }) => bound.browser);
  return (browser, pool, at) => {
    if ((forced.get(pool) ?? Number.POSITIVE_INFINITY) <= at + slackMs) return undefined;
    const holds = uses.get(browser)?.map(({ hold }) => hold);
    return holds?.find(({ fromMs, untilMs }) => fromMs < at - slackMs && at + slackMs < untilMs);
  };
};

const deleted = (events: HistoryEvent[], find: Find): Violation[] => {
  const seen = drained(ofKind(events, "fault"));
  return ofKind(events, "pod").flatMap((event): Violation[] => {
    const { browser, pool, at, phase, deletionAt } = event;
    if (phase !== "Running" || deletionAt === undefined || seen.has(browser)) return [];
    seen.add(browser);
    const hold = find(browser, pool, at);
    if (!hold) return [];
    return [{ what: `${event.pod} was deleted while session ${hold.session} used it`, events: [hold.told, event] }];
  });
};

const stopped = (events: HistoryEvent[], find: Find): Violation[] => {
  const pools = new Map(ofKind(events, "pod").map(({ browser, pool }) => [browser, pool]));
  return ofKind(events, "agent").flatMap((event): Violation[] => {
    const { what, code, browser, at } = event;
    const hold = what === "exit" && code === "stopped" && find(browser, pools.get(browser) ?? "", at);
    if (!hold) return [];
    return [{ what: `${event.pod} stopped while session ${hold.session} used it`, events: [hold.told, event] }];
  });
};

/**
 * A pod that runs is deleted only when nobody uses its browser: the deletion shows in the pod before its process ends.
 * One whose process has ended by itself is another matter. A pod that is evicted serves on, within its grace, for
 * whoever uses it.
 */
export const holdersKeepBrowsers: Check = {
  name: "holders-keep-browsers",
  kind: "safety",
  promise: "no browser is destroyed while its client counts on it, unless its whole pool is deleted by force",
  find(events) {
    const find = userOf(events);
    return [...deleted(events, find), ...stopped(events, find)];
  },
};

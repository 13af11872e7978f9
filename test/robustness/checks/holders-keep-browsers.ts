import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { toldBinds } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { groupBy } from "./views.ts";

/** A call and the deletion that it leads to may overtake each other in the records, ms. */
const slackMs = 50;

/** When pools were deleted with all that is in them, by uid. */
const forcedAt = (pools: EventOf<"pool">[]): Map<string, number> =>
  new Map(
    pools.flatMap(({ what, pool, at }) => (what === "delete" && pool !== undefined ? [[pool, at] as const] : [])),
  );

/**
 * A pod that runs is deleted only when nobody uses its browser: the deletion shows in the pod before its process ends. One
 * whose process has ended by itself is another matter.
 */
export const holdersKeepBrowsers: Check = {
  name: "holders-keep-browsers",
  promise: "no browser is destroyed while its client counts on it, unless its whole pool is deleted by force",
  find(events) {
    const forced = forcedAt(ofKind(events, "pool"));
    const uses = groupBy([...toldBinds(events).values()], ({ bound }) => bound.browser);
    const seen = new Set<string>();
    return ofKind(events, "pod").flatMap((event): Violation[] => {
      const { browser, pool, at, phase, deletionAt } = event;
      if (phase !== "Running" || deletionAt === undefined || seen.has(browser)) return [];
      seen.add(browser);
      if ((forced.get(pool) ?? Number.POSITIVE_INFINITY) <= at + slackMs) return [];
      const hold = uses
        .get(browser)
        ?.map(({ hold }) => hold)
        .find(({ fromMs, untilMs }) => fromMs < at - slackMs && at + slackMs < untilMs);
      if (!hold) return [];
      return [{ what: `${event.pod} was deleted while session ${hold.session} used it`, events: [hold.told, event] }];
    });
  },
};

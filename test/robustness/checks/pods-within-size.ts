import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { type PoolSetting, poolSettings, settingsAt } from "./pool-requests.ts";
import { groupBy } from "./views.ts";

/** Until it is gone or has ended; a terminating one still runs. */
const isLive = ({ change, phase }: EventOf<"pod">): boolean =>
  change !== "DELETED" && phase !== "Succeeded" && phase !== "Failed";

/** Judged whenever a pod is made: a pool that shrinks may have more until leases end, but makes none. */
const find = (pods: EventOf<"pod">[], settings: PoolSetting[]): Violation[] => {
  const violations: Violation[] = [];
  const live = new Map<string, EventOf<"pod">>();
  for (const event of pods) {
    const isNew = event.change === "ADDED" && !live.has(event.browser);
    if (isLive(event)) live.set(event.browser, event);
    else live.delete(event.browser);
    const allowed = settingsAt(settings, event.at).map(({ size }) => size);
    if (isNew && allowed.length > 0 && live.size > Math.max(...allowed))
      violations.push({
        what: `pool ${event.pool} has ${live.size} live pods and a size of ${Math.max(...allowed)}`,
        events: [...live.values()],
      });
  }
  return violations;
};

export const podsWithinSize: Check = {
  name: "pods-within-size",
  kind: "safety",
  promise: "a pool never runs more browsers than its size, and counts one until it is surely gone",
  find(events) {
    const settings = poolSettings(events);
    const pools = groupBy(ofKind(events, "pod"), ({ pool }) => pool);
    return [...pools].flatMap(([pool, pods]) => find(pods, settings.get(pool) ?? []));
  },
};

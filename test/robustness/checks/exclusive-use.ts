/**
 * A browser is used by one session at a time.
 *
 *   clients   the times in which two clients may count on sessions of one browser never overlap
 *   agents    a lease that its client still counts on is neither replaced at its agent nor ended, unless by the forced
 *             deletion of its pool
 *
 * Which browser a session has is known from the agents, who outlive every loss of Redis.
 */
import type { EventOf } from "../history/history.ts";
import { agentLogs, isToldBind, type Told, toldBinds, withHolder } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { forcedDeletions, groupBy } from "./views.ts";

const overlaps = (uses: Told[]): Violation[] => {
  const inOrder = uses.toSorted((a, b) => a.hold.fromMs - b.hold.fromMs);
  return inOrder.flatMap((later, index) => {
    const earlier = inOrder.slice(0, index).find(({ hold }) => hold.untilMs > later.hold.fromMs);
    if (!earlier) return [];
    const events = [earlier.bound, earlier.hold.told, later.bound, later.hold.told, earlier.hold.givenUp];
    return {
      what: `sessions ${earlier.hold.session} and ${later.hold.session} held browser ${later.bound.pod} at the same time`,
      events: events.filter((event) => event !== undefined).toSorted((a, b) => a.at - b.at),
    };
  });
};

const robbery = (told: Map<string, Told>, forced: Map<string, number>, log: EventOf<"agent">[]): Violation[] =>
  [...withHolder(log)].flatMap(({ event, held }): Violation[] => {
    const use = told.get(held?.session ?? "");
    const hold = use && held && isToldBind(use, held) ? use.hold : undefined;
    const isForced = (forced.get(hold?.pool ?? "") ?? Number.POSITIVE_INFINITY) <= event.at;
    const isEnded = event.what === "ended" && event.session === held?.session && !isForced;
    const isReplaced = event.what === "bound" && event.session !== held?.session;
    if (!held || !hold || hold.untilMs <= event.at || !(isEnded || isReplaced)) return [];
    return [
      {
        what: `the lease of ${hold.session} was ${isEnded ? "ended" : "replaced"} at ${event.pod} while its client counted on it`,
        events: [held, hold.told, event].toSorted((a, b) => a.at - b.at),
      },
    ];
  });

export const exclusiveUse: Check = {
  name: "exclusive-use",
  kind: "safety",
  promise: "no browser is held by two sessions, and none is taken from its holder",
  find(events) {
    const told = toldBinds(events);
    const forced = forcedDeletions(events);
    const byBrowser = groupBy([...told.values()], ({ bound }) => bound.browser);
    return agentLogs(events).flatMap((log) => [
      ...overlaps(byBrowser.get(log[0]?.browser ?? "") ?? []),
      ...robbery(told, forced, log),
    ]);
  },
};

/**
 * Callers of a replica whose clock is wrong get browsers as all others do: it goes by the clocks of the agents
 * (LEASE-55). Looked at from its start with that clock on, where no other fault is at work.
 */
import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { type FaultSpan, faultSpansOf, type Grant, grantsAt, isCalm } from "./views.ts";

/** What an answer may take until its caller has it, ms. */
const answerMs = 2000;

/** So many callers in a row do not hang up in the instant of their grant. */
const enough = 5;

/** How long after a fault the service may still be busy with its traces, ms. */
const recoveryMs = 5000;

const servesNobody = (
  span: FaultSpan,
  started: EventOf<"process">,
  grants: Grant[],
  held: Set<string>,
): Violation[] => {
  const those = grants.filter(({ event }) => event.at > started.at && event.at < span.untilMs - answerMs);
  if (those.length < enough || those.some(({ session }) => held.has(session))) return [];
  return [
    {
      what: `${started.name} had a wrong clock, and none of ${those.length} browsers that it was granted came to a caller`,
      events: [span.begin, started, ...those.slice(0, enough).map(({ event }) => event)],
    },
  ];
};

export const wrongClockServes: Check = {
  name: "wrong-clock-serves",
  kind: "timing",
  promise: "a replica whose clock is wrong hands out browsers all the same",
  find(events) {
    const faults = faultSpansOf(events);
    const returned = ofKind(events, "return").filter(({ outcome }) => outcome === "held");
    const held = new Set(returned.map(({ session = "" }) => session));
    const leases = ofKind(events, "lease");
    return faults.flatMap((span): Violation[] => {
      const replica = span.begin.details?.replica;
      const started = ofKind(events, "process").find(
        ({ what, name, at }) => what === "start" && name === replica && at > span.fromMs,
      );
      const others = faults.filter((other) => other !== span);
      if (span.fault !== "clock-behind" || !started || !isCalm(others, span.fromMs - recoveryMs, span.untilMs))
        return [];
      return servesNobody(span, started, grantsAt(replica, leases), held);
    });
  },
};

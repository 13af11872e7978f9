/**
 * An API replica that stands still serves nobody, so nobody who waits at it is given a browser that others wait for
 * (LEASE-54). Redis has it as subscribed all the while: only its silence tells.
 */
import { ofKind } from "../history/history.ts";
import type { Check } from "./check.ts";
import { faultSpansOf, grantsAt } from "./views.ts";

/** Faults in which a replica stands still from soon after their begin until their end. */
const freezes = ["api-freeze", "event-loop-stall"];

/**
 * A replica counts as silent after two seconds; with the time that it takes to come to a standstill, and a margin, ms.
 */
const silentMs = 3500;

export const noGrantToTheFrozen: Check = {
  name: "no-grant-to-the-frozen",
  kind: "safety",
  promise: "no browser is granted to a caller whose API replica has stood still for seconds",
  find(events) {
    const leases = ofKind(events, "lease");
    const spans = faultSpansOf(events).filter(({ fault }) => freezes.includes(fault));
    return spans.flatMap(({ begin, fromMs, untilMs }) =>
      grantsAt(begin.details?.replica, leases)
        .filter(({ event }) => event.at > fromMs + silentMs && event.at < untilMs)
        .map(({ session, event }) => ({
          what: `${session} was granted a browser when its replica had stood still for ${Math.round(event.at - fromMs)} ms`,
          events: [begin, event],
        })),
    );
  },
};

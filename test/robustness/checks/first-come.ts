import type { HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { replayLeases } from "./lease-replay.ts";
import { groupBy } from "./views.ts";

/**
 * Every grant goes to the lowest ticket in the queue of that moment. After a loss of Redis the queue holds those who
 * have come back to it, with the tickets that they had.
 */
const find = (entries: Extract<HistoryEvent, { kind: "lease" }>[]): Violation[] => {
  const violations: Violation[] = [];
  replayLeases(entries, {
    before(change, { queue }, event) {
      if (change.what !== "granted") return;
      const [first] = [...queue].filter(([session]) => session !== change.session).sort((a, b) => a[1] - b[1]);
      if (!first || first[1] > change.ticket) return;
      const came = entries.findLast(
        ({ at, changes }) =>
          at <= event.at && changes.some((other) => other.what === "queued" && other.session === first[0]),
      );
      violations.push({
        what: `${change.session} with ticket ${change.ticket} was served before ${first[0]} with ticket ${first[1]}`,
        events: [...(came ? [came] : []), event],
      });
    },
  });
  return violations;
};

export const firstCome: Check = {
  name: "first-come",
  kind: "safety",
  promise: "browsers go to waiting callers in the order of their tickets",
  find: (events) => [...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()].flatMap(find),
};

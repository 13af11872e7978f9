import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { replayLeases } from "./lease-replay.ts";
import { groupBy } from "./views.ts";

/** Clock difference between Redis and the clients, and a bit, ms. */
const slackMs = 50;

/**
 * A new caller's ticket is above every one given before, also before a loss; one who comes back brings the old one along. After
 * a loss a caller that the recorder never saw may have come back too, so that only those count whose call began later.
 */
const find = (entries: EventOf<"lease">[], calledAt: Map<string, number>): Violation[] => {
  const violations: Violation[] = [];
  const tickets = new Map<string, number>();
  let lostAt = Number.NEGATIVE_INFINITY;
  let highest: { ticket: number; event: EventOf<"lease"> } | undefined;
  const isNew = (session: string, wish: string | undefined): boolean =>
    !tickets.has(session) &&
    (lostAt === Number.NEGATIVE_INFINITY || (calledAt.get(wish ?? "") ?? 0) > lostAt + slackMs);
  replayLeases(entries, {
    lost: ({ at }) => {
      lostAt = at;
    },
    before(change, _model, event) {
      if (change.what !== "queued") return;
      const { session, ticket, wish } = change;
      const known = tickets.get(session);
      if (isNew(session, wish) && highest && ticket <= highest.ticket)
        violations.push({
          what: `the new caller ${session} got ticket ${ticket} after ${highest.ticket} had been given`,
          events: [highest.event, event],
        });
      if (known !== undefined && ticket > known)
        violations.push({ what: `${session} came back with ticket ${ticket} instead of ${known}`, events: [event] });
      tickets.set(session, ticket);
      if (!highest || ticket > highest.ticket) highest = { ticket, event };
    },
  });
  return violations;
};

export const ticketsRise: Check = {
  name: "tickets-rise",
  promise: "later callers get higher tickets, and nobody's ticket gets worse, whatever Redis loses",
  find(events) {
    const calledAt = new Map(ofKind(events, "call").map(({ wish, at }) => [wish ?? "", at]));
    const pools = groupBy(ofKind(events, "lease"), ({ pool }) => pool);
    return [...pools.values()].flatMap((entries) => find(entries, calledAt));
  },
};

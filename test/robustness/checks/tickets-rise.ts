import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { groupBy } from "./views.ts";

/** Clock difference between Redis and the clients, and a bit, ms. */
const slackMs = 50;

/**
 * A take whose answer was lost is repeated without the ticket that nobody was told of, for this long, ms; a caller who
 * was passed over in between, because its replica was cut off from messages too, begins anew.
 */
const untoldMs = 2500;

type Given = { session: string; ticket: number; request: string; event: EventOf<"lease"> };

const givenIn = (event: EventOf<"lease">): Given[] =>
  event.changes.flatMap((change) => {
    if (change.what !== "queued") return [];
    const { session, ticket, request = "" } = change;
    return [{ session, ticket, request, event }];
  });

const worse = ({ session, ticket, event }: Given, known: Given): Violation[] =>
  ticket > known.ticket && event.at > known.event.at + untoldMs
    ? [{ what: `${session} came back with ticket ${ticket} instead of ${known.ticket}`, events: [known.event, event] }]
    : [];

const notAbove = ({ session, ticket, event }: Given, before: Given | undefined): Violation[] =>
  before && ticket <= before.ticket
    ? [
        {
          what: `${session} came later and got ticket ${ticket} after ${before.ticket} had been given`,
          events: [before.event, event],
        },
      ]
    : [];

/**
 * Whoever calls after a ticket was given gets a higher one, whether Redis still knows of that one or not; and whoever
 * comes back to the queue has the ticket that it had.
 */
const find = (entries: EventOf<"lease">[], calledAt: Map<string, number>): Violation[] => {
  const first = new Map<string, Given>();
  /** The highest so far, each time that there is a new one. */
  const highest: Given[] = [];
  return entries.flatMap(givenIn).flatMap((given) => {
    const known = first.get(given.session);
    const callAt = calledAt.get(given.request) ?? 0;
    const before = highest.findLast(({ event }) => event.at < callAt - slackMs);
    if (!known || given.ticket < known.ticket) first.set(given.session, given);
    if (given.ticket > (highest.at(-1)?.ticket ?? 0)) highest.push(given);
    return known === undefined ? notAbove(given, before) : worse(given, known);
  });
};

export const ticketsRise: Check = {
  name: "tickets-rise",
  kind: "safety",
  promise: "later callers get higher tickets, and nobody's ticket gets worse, whatever Redis loses",
  find(events) {
    const calledAt = new Map<string, number>();
    for (const { request = "", at } of ofKind(events, "call")) if (!calledAt.has(request)) calledAt.set(request, at);
    const pools = groupBy(ofKind(events, "lease"), ({ pool }) => pool);
    return [...pools.values()].flatMap((entries) => find(entries, calledAt));
  },
};

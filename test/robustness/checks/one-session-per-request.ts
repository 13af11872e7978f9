import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { lossesOf, replayLeases } from "./lease-replay.ts";
import { groupBy, holdsOf, operationsOf } from "./views.ts";

type Answer = { call: EventOf<"call">; told: EventOf<"return"> };

/** Requests with one Idempotency-Key are one request; every other request is a request of its own. */
const requestOf = ({ pool, client, id, idempotencyKey }: EventOf<"call">): string =>
  idempotencyKey === undefined ? id : `${pool}/${client}/${idempotencyKey}`;

/** A loss shows with the next script of its pool, ms. */
const noticedMs = 2000;

/** Requests that were asked once and have leases of two sessions at a time, as the scripts recorded it. */
const doubleLeases = (events: HistoryEvent[]): Violation[] => {
  const calls = groupBy(ofKind(events, "call"), ({ request }) => request ?? "");
  const isSingle = (request: string | undefined): request is string =>
    request !== undefined && calls.get(request)?.length === 1;
  return [...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()].flatMap((entries) => {
    const violations: Violation[] = [];
    const requests = new Map<string, string>();
    replayLeases(entries, {
      before(change, { leases }, event) {
        if ((change.what !== "granted" && change.what !== "restored") || !isSingle(change.request)) return;
        const other = [...leases.keys()].find(
          (session) => session !== change.session && requests.get(session) === change.request,
        );
        requests.set(change.session, change.request);
        if (other === undefined) return;
        const asked = calls.get(change.request) ?? [];
        violations.push({
          what: `one request has the leases of ${other} and ${change.session} at a time`,
          events: [...asked, event],
        });
      },
    });
    return violations;
  });
};

export const oneSessionPerRequest: Check = {
  name: "one-session-per-request",
  kind: "safety",
  promise: "a session answers one request, and a request has one browser at a time, however often it is repeated",
  find(events) {
    const holds = holdsOf(events);
    const answers = operationsOf(events).flatMap(({ call, ended }): Answer[] =>
      ended?.outcome === "held" ? [{ call, told: ended }] : [],
    );
    const shared = [...groupBy(answers, ({ told }) => told.session ?? "").entries()].flatMap(
      ([session, same]): Violation[] =>
        new Set(same.map(({ call }) => requestOf(call))).size > 1
          ? [{ what: `session ${session} was the answer to different requests`, events: same.map(({ told }) => told) }]
          : [],
    );
    const losses = lossesOf(events);
    const doubled = [...groupBy(answers, ({ call }) => requestOf(call)).values()].flatMap((same): Violation[] => {
      const sessions = [...new Set(same.map(({ told }) => told.session ?? ""))];
      const held = sessions.flatMap((session) => holds.get(session) ?? []).toSorted((a, b) => a.fromMs - b.fromMs);
      const second = held.find((hold, index) => held.slice(0, index).some(({ untilMs }) => untilMs > hold.fromMs));
      // The answer that was to be repeated may have gone with a loss.
      const firstAt = Math.min(...same.map(({ call }) => call.at));
      if (!second || losses.some((at) => firstAt < at && at < second.fromMs + noticedMs)) return [];
      return [{ what: `one request has ${held.length} sessions at a time`, events: same.map(({ told }) => told) }];
    });
    return [...shared, ...doubled, ...doubleLeases(events)];
  },
};

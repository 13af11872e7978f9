import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { lossesOf, replayLeases } from "./lease-replay.ts";
import { groupBy, holdsOf, operationsOf } from "./views.ts";

type Answer = { call: EventOf<"call">; told: EventOf<"return"> };

/** Requests with one Idempotency-Key are one wish; every other request is a wish of its own. */
const wishOf = ({ pool, client, id, idempotencyKey }: EventOf<"call">): string =>
  idempotencyKey === undefined ? id : `${pool}/${client}/${idempotencyKey}`;

/** A loss shows with the next script of its pool, ms. */
const noticedMs = 2000;

/** Wishes that were asked once and have leases of two sessions at a time, as the scripts recorded it. */
const doubleLeases = (events: HistoryEvent[]): Violation[] => {
  const calls = groupBy(ofKind(events, "call"), ({ wish }) => wish ?? "");
  const isSingle = (wish: string | undefined): wish is string => wish !== undefined && calls.get(wish)?.length === 1;
  return [...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()].flatMap((entries) => {
    const violations: Violation[] = [];
    const wishes = new Map<string, string>();
    replayLeases(entries, {
      before(change, { leases }, event) {
        if ((change.what !== "granted" && change.what !== "restored") || !isSingle(change.wish)) return;
        const other = [...leases.keys()].find(
          (session) => session !== change.session && wishes.get(session) === change.wish,
        );
        wishes.set(change.session, change.wish);
        if (other === undefined) return;
        const asked = calls.get(change.wish) ?? [];
        violations.push({
          what: `one wish has the leases of ${other} and ${change.session} at a time`,
          events: [...asked, event],
        });
      },
    });
    return violations;
  });
};

export const oneSessionAWish: Check = {
  name: "one-session-a-wish",
  kind: "safety",
  promise: "a session answers one wish, and a wish has one browser at a time, however often it is repeated",
  find(events) {
    const holds = holdsOf(events);
    const answers = operationsOf(events).flatMap(({ call, ended }): Answer[] =>
      ended?.outcome === "held" ? [{ call, told: ended }] : [],
    );
    const shared = [...groupBy(answers, ({ told }) => told.session ?? "").entries()].flatMap(
      ([session, same]): Violation[] =>
        new Set(same.map(({ call }) => wishOf(call))).size > 1
          ? [{ what: `session ${session} was the answer to different wishes`, events: same.map(({ told }) => told) }]
          : [],
    );
    const losses = lossesOf(events);
    const doubled = [...groupBy(answers, ({ call }) => wishOf(call)).values()].flatMap((same): Violation[] => {
      const sessions = [...new Set(same.map(({ told }) => told.session ?? ""))];
      const held = sessions.flatMap((session) => holds.get(session) ?? []).toSorted((a, b) => a.fromMs - b.fromMs);
      const second = held.find((hold, index) => held.slice(0, index).some(({ untilMs }) => untilMs > hold.fromMs));
      // The answer that was to be repeated may have gone with a loss.
      const firstAt = Math.min(...same.map(({ call }) => call.at));
      if (!second || losses.some((at) => firstAt < at && at < second.fromMs + noticedMs)) return [];
      return [{ what: `one wish has ${held.length} sessions at a time`, events: same.map(({ told }) => told) }];
    });
    return [...shared, ...doubled, ...doubleLeases(events)];
  },
};

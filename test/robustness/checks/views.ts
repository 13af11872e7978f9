/** Views of a history that several checks share. */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";

/** A client's operation; without `ended` when its return is not in the history. */
export type Operation = { call: EventOf<"call">; ended: EventOf<"return"> | undefined };

export const operationsOf = (events: HistoryEvent[]): Operation[] => {
  const returns = new Map(ofKind(events, "return").map((event) => [event.id, event]));
  return ofKind(events, "call").map((call) => ({ call, ended: returns.get(call.id) }));
};

/**
 * The time in which a client may count on its session: from the first answer that names it until the first call that
 * gives it up. A client that dies gives nothing up: `untilMs` is infinite, and only the end of the pod frees its
 * browser.
 */
export type Hold = {
  session: string;
  pool: string;
  fromMs: number;
  untilMs: number;
  told: EventOf<"return">;
  givenUp: EventOf<"call"> | undefined;
};

/** By session. */
export const holdsOf = (events: HistoryEvent[]): Map<string, Hold> => {
  const givenUp = new Map<string, EventOf<"call">>();
  for (const call of ofKind(events, "call"))
    if ((call.op === "release" || call.op === "delete") && call.session && !givenUp.has(call.session))
      givenUp.set(call.session, call);
  const holds = new Map<string, Hold>();
  for (const told of ofKind(events, "return")) {
    const { session, pool } = told;
    if (told.outcome !== "held" || session === undefined || holds.has(session)) continue;
    const end = givenUp.get(session);
    holds.set(session, {
      session,
      pool,
      fromMs: told.at,
      untilMs: end?.at ?? Number.POSITIVE_INFINITY,
      told,
      givenUp: end,
    });
  }
  return holds;
};

export type FaultSpan = {
  fault: string;
  fromMs: number;
  untilMs: number;
  begin: EventOf<"fault">;
  end: EventOf<"fault"> | undefined;
};

export const faultSpansOf = (events: HistoryEvent[]): FaultSpan[] => {
  const faults = ofKind(events, "fault");
  const ends = new Map(faults.filter(({ phase }) => phase === "end").map((event) => [event.id, event]));
  return faults
    .filter(({ phase }) => phase === "begin")
    .map((begin) => {
      const end = ends.get(begin.id);
      return { fault: begin.fault, fromMs: begin.at, untilMs: end?.at ?? Number.POSITIVE_INFINITY, begin, end };
    });
};

export type Grant = { session: string; event: EventOf<"lease"> };

/** The browsers that were given to callers who waited at this API replica, in any of its lives. */
export const grantsAt = (replica: unknown, leases: EventOf<"lease">[]): Grant[] =>
  leases.flatMap((event) =>
    event.changes.flatMap((change) =>
      change.what === "granted" && change.channel?.includes(`:grants:${replica}-`)
        ? [{ session: change.session, event }]
        : [],
    ),
  );

/** Whether no fault was at work at any time from `fromMs` to `untilMs`. */
export const isCalm = (spans: FaultSpan[], fromMs: number, untilMs: number): boolean =>
  spans.every((span) => span.untilMs < fromMs || span.fromMs > untilMs);

export const markOf = (events: HistoryEvent[], mark: EventOf<"mark">["mark"]): EventOf<"mark"> | undefined =>
  ofKind(events, "mark").find((event) => event.mark === mark);

/**
 * When pools were deleted with all that is in them, by uid: from the first call on, which may have been lost and
 * repeated.
 */
export const forcedDeletions = (events: HistoryEvent[]): Map<string, number> => {
  const since = new Map<string, number>();
  for (const { what, pool, at } of ofKind(events, "pool"))
    if (what === "delete" && pool !== undefined && !since.has(pool)) since.set(pool, at);
  return since;
};

/** The events of each value of `key`, in their order. */
export const groupBy = <T>(items: T[], key: (item: T) => string): Map<string, T[]> => Map.groupBy(items, key);

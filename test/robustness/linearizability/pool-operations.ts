/**
 * What happened to each pool as operations that took effect at some moment between two times, for the search of an order that
 * explains all of them (tools/linearizability/pool.go).
 *
 * Clients tell when; agents tell which browser a session had. The tickets come from the scripts, and only where Redis lost
 * nothing and the caller was granted a browser once: after a loss, or when a browser refused its lease, the order of the
 * answers is no longer that of the grants.
 */

import { agentLogs, withHolder } from "../checks/agent-log.ts";
import { replayLeases } from "../checks/lease-replay.ts";
import { groupBy, holdsOf, operationsOf } from "../checks/views.ts";
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";

export type PoolOperation = {
  id: string;
  kind: "grant" | "release" | "take-back" | "vanish";
  session: string;
  browser: string;
  /** 0: not known. */
  ticket: number;
  outcome: "ok" | "gone" | "unknown" | "";
  /** ns. */
  call: number;
  return: number;
};

export type PoolOperations = { pool: string; operations: PoolOperation[] };

const toNs = (ms: number): number => Math.round(ms * 1e6);

/** After every moment of a history, ns; small enough to be exact. */
const never = 2 ** 52;

type Times = { call: number; return: number };
const between = (fromMs: number, untilMs: number | undefined): Times => ({
  call: toNs(fromMs),
  return: untilMs === undefined ? never : toNs(untilMs),
});

/** Tickets of sessions that were granted one browser, in pools of which Redis lost nothing; also which pools those are. */
const readTickets = (events: HistoryEvent[]): { tickets: Map<string, number>; whole: Set<string> } => {
  const grants: { session: string; ticket: number; pool: string }[] = [];
  const whole = new Set<string>();
  for (const [pool, entries] of groupBy(ofKind(events, "lease"), (event) => event.pool)) {
    whole.add(pool);
    replayLeases(entries, {
      lost: () => whole.delete(pool),
      before(change) {
        if (change.what === "granted") grants.push({ session: change.session, ticket: change.ticket, pool });
        if (change.what === "restored") whole.delete(pool);
      },
    });
  }
  const tickets = [...groupBy(grants, ({ session }) => session).values()].flatMap(([first, ...more]) =>
    first && more.length === 0 && whole.has(first.pool) ? [[first.session, first.ticket] as const] : [],
  );
  return { tickets: new Map(tickets), whole };
};

/** Tickets are µs since 1970; what is far apart stays far apart when they are counted through. */
const rank = (tickets: Map<string, number>): Map<string, number> => {
  const inOrder = [...tickets].toSorted((a, b) => a[1] - b[1]);
  return new Map(inOrder.map(([session], index) => [session, index + 1]));
};

const releases = (
  events: HistoryEvent[],
  browsers: Map<string, string>,
  whole: Set<string>,
): [string, PoolOperation][] =>
  operationsOf(events).flatMap(({ call, ended }): [string, PoolOperation][] => {
    const { op, session = "", pool, id, at } = call;
    const browser = browsers.get(session);
    if ((op !== "release" && op !== "delete") || browser === undefined) return [];
    const said = ended?.outcome;
    // A session that Redis has lost is not found until the audit has restored it.
    const isSure = said === "ok" || (said === "gone" && whole.has(pool));
    const outcome = isSure ? (said as "ok" | "gone") : "unknown";
    const times = between(at, isSure ? ended?.at : undefined);
    return [[pool, { id, kind: "release", session, browser, ticket: 0, outcome, ...times }]];
  });

/** By pool; only of sessions that an agent took. */
export const poolOperations = (events: HistoryEvent[]): PoolOperations[] => {
  const holds = holdsOf(events);
  const { tickets, whole } = readTickets(events);
  const ranks = rank(tickets);
  const poolOf = new Map(ofKind(events, "pod").map(({ browser, pool }) => [browser, pool]));
  const calls = new Map(operationsOf(events).map((operation) => [operation.call.id, operation.call]));
  const browsers = new Map<string, string>();
  const operations: [string, PoolOperation][] = [];

  const add = (event: EventOf<"agent">, kind: PoolOperation["kind"], session: string, times: Times): void => {
    const pool = poolOf.get(event.browser) ?? holds.get(session)?.pool ?? "";
    const ticket = kind === "grant" ? (ranks.get(session) ?? 0) : 0;
    const id = `${kind} ${session}`;
    operations.push([pool, { id, kind, session, browser: event.browser, ticket, outcome: "", ...times }]);
  };
  const grant = (event: EventOf<"agent">, session: string): void => {
    browsers.set(session, event.browser);
    const hold = holds.get(session);
    const call = hold && calls.get(hold.told.id);
    // A caller who never learned of it: the grant came before the bind, and it is not known since when it was possible.
    add(event, "grant", session, call ? between(call.at, hold.fromMs) : between(0, event.at));
  };
  for (const { event, held } of agentLogs(events).flatMap((log) => [...withHolder(log)])) {
    const { what, session = "" } = event;
    if (what === "bound" && session !== held?.session) grant(event, session);
    if (what === "ended" && session === held?.session && !holds.has(session))
      add(event, "take-back", session, between(held.at, undefined));
    if (what === "exit") add(event, "vanish", "", between(event.at, undefined));
  }
  operations.push(...releases(events, browsers, whole));
  return [...groupBy(operations, ([pool]) => pool)].map(([pool, its]) => ({
    pool,
    operations: its.map(([, operation]) => operation),
  }));
};

/**
 * What happened to each pool as operations that took effect at some moment between two times, for the search of an
 * order that explains all of them (tools/linearizability/pool.go).
 *
 * Clients tell when; agents tell which browser a session had. The tickets come from the scripts, and only where Redis
 * lost nothing and the caller stood in the queue once and was granted a browser once: after a loss, or when a browser
 * refused its lease, the order of the answers is no longer that of the grants; and a caller who was passed over while
 * its replica was cut off from messages comes back with a ticket below those that were served meanwhile (first-come
 * checks it from then on).
 */

import { agentLogs, isToldBind, type Told, toldBinds, withHolder } from "../checks/agent-log.ts";
import { lossesOf } from "../checks/lease-replay.ts";
import { groupBy, type Operation, operationsOf } from "../checks/views.ts";
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";

type PoolOperation = {
  id: string;
  kind: "grant" | "release";
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

type Times = { call: number; return: number };
const between = (fromMs: number, untilMs: number): Times => ({ call: toNs(fromMs), return: toNs(untilMs) });

/** Tickets of sessions that were granted a browser once, and never came back to the queue. */
const readTickets = (events: HistoryEvent[]): Map<string, number> => {
  const changes = ofKind(events, "lease").flatMap((event) => event.changes);
  const queued = changes.filter((change) => change.what === "queued");
  const granted = changes.filter((change) => change.what === "granted");
  const places = groupBy(queued, ({ session }) => session);
  const isSteady = (session: string): boolean => (places.get(session)?.length ?? 0) <= 1;
  const single = [...groupBy(granted, ({ session }) => session).values()].filter(({ length }) => length === 1);
  return new Map(
    single.flatMap(([grant]) => (grant && isSteady(grant.session) ? [[grant.session, grant.ticket] as const] : [])),
  );
};

/** Tickets are µs since 1970; what is far apart stays far apart when they are counted through. */
const rank = (tickets: Map<string, number>): Map<string, number> => {
  const inOrder = [...tickets].toSorted((a, b) => a[1] - b[1]);
  return new Map(inOrder.map(([session], index) => [session, index + 1]));
};

/** A session of which an agent took the lease, in the order in which it did. */
type Use = {
  session: string;
  bound: EventOf<"agent">;
  grant: Times;
  /** The agent's last word on it: its end, or that of the process. */
  over: EventOf<"agent"> | undefined;
};

/**
 * The calls of a run. `requestedAtMs`: when each request was made first; a repetition may be answered before the call
 * that has got its place.
 */
type Calls = { byId: Map<string, EventOf<"call">>; requestedAtMs: Map<string, number> };

const readCalls = (calls: EventOf<"call">[]): Calls => {
  const requestedAtMs = new Map<string, number>();
  for (const { request, at } of calls)
    if (request !== undefined) requestedAtMs.set(request, Math.min(at, requestedAtMs.get(request) ?? at));
  return { byId: new Map(calls.map((call) => [call.id, call])), requestedAtMs };
};

/** From the first call of the request to the first answer, if that told of this bind. */
const callOf = (
  event: EventOf<"agent">,
  { byId, requestedAtMs }: Calls,
  told: Map<string, Told>,
): Times | undefined => {
  const its = told.get(event.session ?? "");
  const call = its && byId.get(its.hold.told.id);
  if (!call || !isToldBind(its, event)) return undefined;
  return between(requestedAtMs.get(call.request ?? "") ?? call.at, its.hold.fromMs);
};

/** The sessions of one browser after each other. */
const usesOf = (log: EventOf<"agent">[], calls: Calls, told: Map<string, Told>): Use[] => {
  const uses: Use[] = [];
  for (const { event, held } of withHolder(log)) {
    const { session = "" } = event;
    const last = uses.at(-1);
    const isOver = event.what === "exit" || (event.what === "ended" && session === held?.session);
    if (last && held && isOver) last.over = event;
    if (event.what !== "bound" || session === held?.session) continue;
    // The call of a caller who never learned of this one is not known; it was granted the browser after the session
    // before.
    const grant = callOf(event, calls, told) ?? { call: last?.grant.call ?? 0, return: toNs(event.at) };
    uses.push({ session, bound: event, grant, over: undefined });
  }
  return uses;
};

/**
 * How a session came to its end. A release with a clear answer shows when. Whatever else may have ended it (a release
 * without a clear answer, the service when its caller never learned of it, the end of the process) counts as one thing
 * that may have happened, and only where it is needed to explain that the session was gone or that `next` got the
 * browser.
 */
const endingOf = (use: Use, next: Use | undefined, view: { releases: Operation[]; isWhole: boolean }): Ending[] => {
  const isUnclear = ({ ended }: Operation): boolean => ended?.outcome !== "ok" && ended?.outcome !== "gone";
  const firstUnclearMs = Math.min(...view.releases.filter(isUnclear).map(({ call }) => call.at));
  const clear = view.releases.flatMap(({ call, ended }): Ending[] => {
    const outcome = ended?.outcome;
    // A session that Redis has lost is not found until the audit has restored it.
    if (!ended || (outcome !== "ok" && !(outcome === "gone" && view.isWhole))) return [];
    // Told that it is done is also who repeats a release of which the answer was lost, and it may have been done then.
    const fromMs = outcome === "ok" ? Math.min(call.at, firstUnclearMs) : call.at;
    return [{ kind: "release", outcome, ...between(fromMs, ended.at) }];
  });
  // Two at the same time may both be told that it is done, when the answer of one was lost on the way inside.
  const isReleased = clear.filter(({ outcome }) => outcome === "ok").length === 1;
  const sure = isReleased ? clear : clear.filter(({ outcome }) => outcome === "gone");
  const needed = [...sure.map((ending) => ending.return), ...(next ? [next.grant.return] : [])];
  const unclear = view.releases.filter(({ ended }) => ended?.outcome !== "gone");
  const possible = [...unclear.map(({ call }) => call.at), ...(use.over ? [use.over.at] : [])];
  if (isReleased || needed.length === 0 || possible.length === 0) return sure;
  const call = toNs(Math.min(...possible));
  return [...sure, { kind: "release", outcome: "unknown", call, return: Math.max(call, ...needed) }];
};

type Ending = Times & Pick<PoolOperation, "kind" | "outcome">;

/** By pool; only of sessions that an agent took. */
export const poolOperations = (events: HistoryEvent[]): PoolOperations[] => {
  const told = toldBinds(events);
  const isWhole = ofKind(events, "lease").length > 0 && lossesOf(events).length === 0;
  const ranks = rank(isWhole ? readTickets(events) : new Map());
  const poolOf = new Map(ofKind(events, "pod").map(({ browser, pool }) => [browser, pool]));
  const all = operationsOf(events);
  const calls = readCalls(all.map(({ call }) => call));
  const ends = all.filter(({ call }) => call.op === "release" || call.op === "delete");
  const releases = groupBy(ends, ({ call }) => call.session ?? "");

  const operations = agentLogs(events).flatMap((log) => {
    const browser = log[0]?.browser ?? "";
    const pool = poolOf.get(browser) ?? "";
    return usesOf(log, calls, told).flatMap((use, index, uses) => {
      const { session, bound } = use;
      const its = told.get(session);
      // What its client released is the lease that it was told of, not one that the service had taken back before.
      const isClients = !its || isToldBind(its, bound);
      const view = { releases: isClients ? (releases.get(session) ?? []) : [], isWhole };
      const grant = { kind: "grant", outcome: "", ...use.grant } as const;
      return [grant, ...endingOf(use, uses[index + 1], view)].map((step, place) => {
        const ticket = step.kind === "grant" ? (ranks.get(session) ?? 0) : 0;
        return { pool, operation: { id: `${step.kind} ${place} ${session}`, session, browser, ticket, ...step } };
      });
    });
  });
  return [...groupBy(operations, ({ pool }) => pool)].map(([pool, its]) => ({
    pool,
    operations: its.map(({ operation }) => operation),
  }));
};

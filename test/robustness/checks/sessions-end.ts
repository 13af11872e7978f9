/**
 * Nothing vanishes without a word: a session that was handed out has ended with a reason in Redis; where Redis lost
 * that, its agent or its pod tells of the end. A pod that is gone was deleted by somebody or has told its reason.
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { agentLogs, withHolder } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { lossesOf } from "./lease-replay.ts";
import { groupBy, holdsOf } from "./views.ts";

/** Sessions whose end is in Redis' records. */
const endedInRedis = (events: HistoryEvent[]): Set<string> => {
  const ended = new Set<string>();
  for (const { changes } of ofKind(events, "lease"))
    for (const change of changes) if (change.what === "ended") ended.add(change.session);
  for (const { pools } of ofKind(events, "end"))
    for (const pool of pools) for (const { session } of pool.ended) ended.add(session);
  return ended;
};

/** Sessions whose end the agents tell of: ended, replaced, or gone with their process. */
const endedAtAgents = (events: HistoryEvent[]): Set<string> => {
  const ended = new Set<string>();
  for (const { event, held } of agentLogs(events).flatMap((log) => [...withHolder(log)])) {
    const isSame = event.session === held?.session;
    const isOver = event.what === "exit" || (event.what === "bound" && !isSame) || (event.what === "ended" && isSame);
    if (held?.session !== undefined && isOver) ended.add(held.session);
  }
  return ended;
};

const sessions = (events: HistoryEvent[]): Violation[] => {
  const [end] = ofKind(events, "end");
  if (!end) return [];
  const inRedis = endedInRedis(events);
  const atAgents = endedAtAgents(events);
  const isLossy = lossesOf(events).length > 0;
  const left = new Set(end.pools.map(({ pool }) => pool));
  return [...holdsOf(events).values()].flatMap(({ session, pool, told, givenUp }): Violation[] => {
    // A deleted pool takes its records along.
    const isLeant = isLossy || !left.has(pool);
    if (inRedis.has(session) || (isLeant && atAgents.has(session))) return [];
    return [
      {
        what: `session ${session} has no end with a reason`,
        events: [told, givenUp].filter((event) => event !== undefined),
      },
    ];
  });
};

/** Whether anything says why a pod went. */
const isExplained = ({ deletionAt, endedReason }: EventOf<"pod">): boolean =>
  deletionAt !== undefined || endedReason !== undefined;

const pods = (events: HistoryEvent[]): Violation[] =>
  [...groupBy(ofKind(events, "pod"), ({ browser }) => browser).values()].flatMap((seen): Violation[] => {
    const last = seen.at(-1);
    if (last?.change !== "DELETED" || seen.some(isExplained)) return [];
    return [{ what: `pod ${last.pod} vanished without a reason`, events: seen.slice(-2) }];
  });

const unexplained = (events: HistoryEvent[]): Violation[] =>
  ofKind(events, "lease").flatMap((event) =>
    event.changes.flatMap((change): Violation[] => {
      const isOut = change.what === "state" && (change.to === "suspect" || change.to === "retired");
      if (!isOut || change.reason) return [];
      return [{ what: `browser ${change.browser} became ${change.to} without a reason`, events: [event] }];
    }),
  );

export const sessionsEnd: Check = {
  name: "sessions-end",
  kind: "safety",
  promise: "every session and every browser ends in a recorded state, with a reason",
  find: (events) => [...sessions(events), ...pods(events), ...unexplained(events)],
};

import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { groupBy, type Hold, holdsOf } from "./views.ts";

type AgentEvent = EventOf<"agent">;

/** A session that a client was told of, and the bind that made it. */
export type Told = { hold: Hold; bound: AgentEvent };

/** The logs of all agents, each in its order, which is exact. */
export const agentLogs = (events: HistoryEvent[]): AgentEvent[][] => [
  ...groupBy(ofKind(events, "agent"), ({ browser }) => browser).values(),
];

/**
 * The browser of each session that a client was told of. A session may be bound several times before, one after the
 * other, on other browsers or on the same: when an answer is lost, its caller takes again. The last bind before the
 * answer is the one that it tells of.
 */
export const toldBinds = (events: HistoryEvent[]): Map<string, Told> => {
  const holds = holdsOf(events);
  const told = new Map<string, Told>();
  for (const bound of ofKind(events, "agent")) {
    const hold = bound.what === "bound" ? holds.get(bound.session ?? "") : undefined;
    if (hold && bound.at <= hold.fromMs && (told.get(hold.session)?.bound.at ?? 0) <= bound.at)
      told.set(hold.session, { hold, bound });
  }
  return told;
};

/** Whether this line of an agent's log is the bind that a client was told of; a repeated bind is in the log twice. */
export const isToldBind = ({ bound }: Told, line: AgentEvent): boolean =>
  bound.browser === line.browser && bound.epoch === line.epoch && bound.seq === line.seq;

/** Each line of an agent's log with the bind whose session held the browser just before it. */
export function* withHolder(log: AgentEvent[]): Generator<{ event: AgentEvent; held: AgentEvent | undefined }, void> {
  let held: AgentEvent | undefined;
  for (const event of log) {
    yield { event, held };
    const isEnd = event.what === "exit" || (event.what === "ended" && event.session === held?.session);
    if (isEnd) held = undefined;
    // A repeated bind of the same session is answered the same way and changes nothing.
    if (event.what === "bound" && event.session !== held?.session) held = event;
  }
}

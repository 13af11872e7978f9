import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { groupBy } from "./views.ts";

type AgentEvent = EventOf<"agent">;

/** The logs of all agents, each in its order, which is exact. */
export const agentLogs = (events: HistoryEvent[]): AgentEvent[][] => [
  ...groupBy(ofKind(events, "agent"), ({ browser }) => browser).values(),
];

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

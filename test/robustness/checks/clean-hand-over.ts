import type { EventOf } from "../history/history.ts";
import { agentLogs } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";

const find = (log: EventOf<"agent">[]): Violation[] => {
  /** The last command of a holder that no reset has followed. */
  let used: EventOf<"agent"> | undefined;
  return log.flatMap((event): Violation[] => {
    if (event.what === "reset") used = undefined;
    if (event.what === "cdp" && event.holder && event.holder === event.session) used = event;
    if (event.what !== "bound" || !used || used.session === event.session) return [];
    return [
      { what: `${event.pod} went from ${used.session} to ${event.session} without a reset`, events: [used, event] },
    ];
  });
};

export const cleanHandOver: Check = {
  name: "clean-hand-over",
  kind: "safety",
  promise: "no session gets a browser that another one has used and that was not made anew since",
  find: (events) => agentLogs(events).flatMap(find),
};

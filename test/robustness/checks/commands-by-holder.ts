import type { EventOf } from "../history/history.ts";
import { agentLogs, withHolder } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";

/** What had left its client when its lease ended may still arrive while nobody holds the browser, for this long, ms. */
const onItsWayMs = 1000;

const find = (log: EventOf<"agent">[]): Violation[] => {
  let ended: EventOf<"agent"> | undefined;
  return [...withHolder(log)].flatMap(({ event, held }): Violation[] => {
    if (event.what === "ended") ended = event;
    if (event.what !== "cdp" || event.session === held?.session) return [];
    const isLate = !held && ended?.session === event.session && event.at - (ended?.at ?? 0) < onItsWayMs;
    if (isLate) return [];
    return [
      {
        what: `${event.pod} let a command of ${event.session} through while ${held?.session ?? "nobody"} held it`,
        events: [held ?? ended, event].filter((one) => one !== undefined),
      },
    ];
  });
};

export const commandsByHolder: Check = {
  name: "commands-by-holder",
  kind: "safety",
  promise: "no CDP command of an ended session, or of one under an older fence, reaches a browser",
  find: (events) => agentLogs(events).flatMap(find),
};

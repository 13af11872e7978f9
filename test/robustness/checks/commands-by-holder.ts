import { agentLogs, withHolder } from "./agent-log.ts";
import type { Check } from "./check.ts";

export const commandsByHolder: Check = {
  name: "commands-by-holder",
  promise: "no CDP command of an ended session, or of one under an older fence, reaches a browser",
  find: (events) =>
    agentLogs(events).flatMap((log) =>
      [...withHolder(log)]
        .filter(({ event, held }) => event.what === "cdp" && event.session !== held?.session)
        .map(({ event, held }) => ({
          what: `${event.pod} let a command of ${event.session} through while ${held?.session ?? "nobody"} held it`,
          events: [...(held ? [held] : []), event],
        })),
    ),
};

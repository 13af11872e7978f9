import { ofKind } from "../history/history.ts";
import type { Check } from "./check.ts";

export const processesLive: Check = {
  name: "processes-live",
  kind: "safety",
  promise: "no process dies by itself, and no rejection or exception goes unhandled",
  find: (events) =>
    ofKind(events, "process").flatMap((event) => {
      if (event.what === "failure")
        return [{ what: `${event.name} failed: ${event.message ?? "no message"}`, events: [event] }];
      if (event.what !== "exit" || event.expected) return [];
      const how = event.signal ?? `code ${event.code}`;
      return [{ what: `${event.name} (${event.role}) ended by itself with ${how}`, events: [event] }];
    }),
};

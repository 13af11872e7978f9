import { ofKind } from "../history/history.ts";
import type { Check } from "./check.ts";
import { holdsOf } from "./views.ts";

export const heldMeansBound: Check = {
  name: "held-means-bound",
  kind: "safety",
  promise: "a caller who is told of a browser has it: its agent had taken the lease before",
  find(events) {
    const boundAt = new Map<string, number>();
    for (const { what, session, at } of ofKind(events, "agent"))
      if (what === "bound" && session !== undefined && !boundAt.has(session)) boundAt.set(session, at);
    return [...holdsOf(events).values()]
      .filter(({ session, fromMs }) => !((boundAt.get(session) ?? Number.POSITIVE_INFINITY) <= fromMs))
      .map(({ session, told }) => ({
        what: `session ${session} was handed out, and no agent had taken its lease`,
        events: [told],
      }));
  },
};

import { unauthorized } from "../../../src/core/leases/records.ts";
import { ofKind } from "../history/history.ts";
import type { Check } from "./check.ts";

/** An agent that takes a token for expired tells of the caller's clock, and nothing of its browser. */
export const noVerdictBy401: Check = {
  name: "no-verdict-by-401",
  kind: "safety",
  promise: "no browser is taken out because its agent found a replica's token not valid",
  find: (events) =>
    ofKind(events, "lease").flatMap((event) =>
      event.changes.flatMap((change) =>
        change.what === "state" &&
        (change.to === "suspect" || change.to === "retired") &&
        change.reason === unauthorized
          ? [{ what: `browser ${change.browser} became ${change.to} by a 401 of its agent`, events: [event] }]
          : [],
      ),
    ),
};

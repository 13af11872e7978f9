/**
 * An agent that was asked for its state under an epoch refuses binds of older ones. So once Redis has let a browser in under
 * an epoch, no bind from before the loss can come true behind its back.
 */
import type { EventOf } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { agentLogs } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { groupBy } from "./views.ts";

/** Clock difference between Redis and the agents, ms. */
const slackMs = 10;

type Entry = { epoch: number; event: EventOf<"lease"> };

/** When each browser got its record, and under which epoch. */
const entriesOf = (entries: EventOf<"lease">[]): Map<string, Entry[]> => {
  const found = new Map<string, Entry[]>();
  let epoch = 0;
  for (const event of entries)
    for (const change of event.changes) {
      if (change.what === "epoch") epoch = change.epoch;
      if (change.what === "state" && change.from === "none" && change.to !== "none")
        found.set(change.browser, [...(found.get(change.browser) ?? []), { epoch, event }]);
    }
  return found;
};

export const epochsBind: Check = {
  name: "epochs-bind",
  promise: "no bind of an older epoch is taken once the browser was looked at under a newer one",
  find(events) {
    const pools = groupBy(ofKind(events, "lease"), ({ pool }) => pool);
    const known = new Map([...pools.values()].flatMap((entries) => [...entriesOf(entries)]));
    return agentLogs(events).flatMap((log) =>
      log.flatMap((bound): Violation[] => {
        const { what, at, epoch = 0, browser, pod } = bound;
        const newer = known.get(browser)?.find((entry) => entry.epoch > epoch && entry.event.at < at - slackMs);
        if (what !== "bound" || !newer) return [];
        return [
          {
            what: `${pod} took a lease of epoch ${epoch} after Redis had let it in under epoch ${newer.epoch}`,
            events: [newer.event, bound],
          },
        ];
      }),
    );
  },
};

/**
 * An agent that was asked for its state under an epoch refuses binds of older ones. So before Redis lets a browser in
 * under an epoch, its agent has raised its own to it, and no bind from before a loss can come true behind its back.
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import { agentLogs } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";
import { groupBy } from "./views.ts";

/** Clock difference between Redis and the agents, ms. */
const slackMs = 10;

/** A browser got its record: when, and under which epoch. */
type Entry = { browser: string; epoch: number; event: EventOf<"lease"> };

const entriesOf = (events: HistoryEvent[]): Entry[] =>
  [...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()].flatMap((pool) => {
    let epoch = 0;
    return pool.flatMap((event) =>
      event.changes.flatMap((change): Entry[] => {
        if (change.what === "epoch") epoch = change.epoch;
        const isEntry = change.what === "state" && change.from === "none" && change.to !== "none";
        return isEntry ? [{ browser: change.browser, epoch, event }] : [];
      }),
    );
  });

const violationsOf = ({ epoch, event, browser }: Entry, log: EventOf<"agent">[]): Violation[] => {
  const isBefore = ({ at }: EventOf<"agent">): boolean => at < event.at + slackMs;
  const under = log.filter(({ what }) => what === "raised" || what === "bound");
  const isRaised = under.some((seen) => isBefore(seen) && (seen.epoch ?? 0) >= epoch);
  const stale = under.find((seen) => !isBefore(seen) && seen.what === "bound" && (seen.epoch ?? 0) < epoch);
  if (!isRaised)
    return [{ what: `${browser} came in under epoch ${epoch}, and its agent had not raised its own`, events: [event] }];
  if (!stale) return [];
  const what = `${stale.pod} took a lease of epoch ${stale.epoch} after it had come in under ${epoch}`;
  return [{ what, events: [event, stale] }];
};

export const epochsBind: Check = {
  name: "epochs-bind",
  kind: "safety",
  promise: "a browser comes in under an epoch only when its agent refuses binds of older ones",
  find(events) {
    const logs = new Map(agentLogs(events).map((log) => [log[0]?.browser ?? "", log]));
    if (logs.size === 0) return [];
    return entriesOf(events).flatMap((entry) => violationsOf(entry, logs.get(entry.browser) ?? []));
  },
};

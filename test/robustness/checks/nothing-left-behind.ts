/**
 * A caller who is gone takes nothing and holds nothing: its place in the queue is given up, and a browser that was granted to it
 * in that instant goes on to the next caller. Judged in calm times only, by the wish that its call carried.
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { replayLeases } from "./lease-replay.ts";
import { faultSpansOf, groupBy, isCalm, markOf } from "./views.ts";

/** A replica hears of a closed connection at once; the rest is for the agent and for a busy machine, ms. */
const giveUpMs = 5000;

/** How long after a fault the service may still be busy with its traces, ms. */
const recoveryMs = 12_000;

type Leaver = { call: EventOf<"call">; ended: EventOf<"return"> };

/** Callers who hung up, by wish; a wish that was asked more than once may be wanted by another request. */
const leaversOf = (events: HistoryEvent[]): Map<string, Leaver> => {
  const returns = new Map(ofKind(events, "return").map((event) => [event.id, event]));
  const leavers = new Map<string, Leaver>();
  for (const [wish, calls] of groupBy(ofKind(events, "call"), (call) => call.wish ?? "")) {
    const [call] = calls;
    const ended = call && returns.get(call.id);
    if (wish !== "" && call && calls.length === 1 && ended?.outcome === "hung-up") leavers.set(wish, { call, ended });
  }
  return leavers;
};

export const nothingLeftBehind: Check = {
  name: "nothing-left-behind",
  promise: "a caller who hangs up leaves the queue, and holds no browser",
  find(events) {
    const leavers = leaversOf(events);
    const faults = faultSpansOf(events);
    const endMs = markOf(events, "load-over")?.at ?? events.at(-1)?.at ?? 0;
    const violations: Violation[] = [];
    for (const entries of groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()) {
      const wishes = new Map<string, string>();
      const open = new Map<string, EventOf<"lease">>();
      const judge = (session: string, untilMs: number): void => {
        const leaver = leavers.get(wishes.get(session) ?? "");
        const since = open.get(session);
        open.delete(session);
        if (!leaver || !since) return;
        const { ended } = leaver;
        const isLong = untilMs > ended.at + giveUpMs;
        if (!isLong || !isCalm(faults, ended.at - recoveryMs, ended.at + giveUpMs)) return;
        violations.push({
          what: `${leaver.call.client} hung up, and its session ${session} stayed for ${Math.round(untilMs - ended.at)} ms`,
          events: [since, leaver.call, ended].toSorted((a, b) => a.at - b.at),
        });
      };
      const { queue, leases } = replayLeases(entries, {
        before(change, _model, event) {
          if (change.what === "queued" || change.what === "granted" || change.what === "restored") {
            if (change.wish !== undefined) wishes.set(change.session, change.wish);
            open.set(change.session, open.get(change.session) ?? event);
          } else if (change.what === "left" || change.what === "ended" || change.what === "undone")
            judge(change.session, event.at);
        },
      });
      for (const session of [...queue.keys(), ...leases.keys()]) judge(session, endMs);
    }
    return violations;
  },
};

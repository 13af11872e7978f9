/**
 * A caller who is gone takes nothing and holds nothing, by the request that its call carried:
 *
 *   hung up   its place in the queue is given up, and a browser that was granted to it in that instant goes on unused;
 *             checked in calm times only
 *   cut off   its replica died: what it held then is found later, but no browser is granted to it any more
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { Check, Violation } from "./check.ts";
import { replayLeases } from "./lease-replay.ts";
import { type FaultSpan, faultSpansOf, groupBy, isCalm, markOf } from "./views.ts";

/** A replica hears of a closed connection at once; the rest is for the agent and for a busy machine, ms. */
const giveUpMs = 5000;

/** How long after a fault the service may still be busy with its traces, ms. */
const recoveryMs = 12_000;

/**
 * An answer that was on its way when its caller hung up looks delivered to the service; the idle time-out ends such a
 * lease. So one that was bound before the replica can have heard of the end, ms, does not count.
 */
const unawareMs = 200;

/** Redis sees at once that nobody listens on a dead replica's channel; with a margin, ms. */
const unheardMs = 2000;

/** Faults under which it still is seen at once. */
const deaths = ["api-kill", "api-term"];

type Leaver = { call: EventOf<"call">; ended: EventOf<"return"> };

/** Callers who are gone, by request; a request that was sent more than once may be wanted by another call. */
const leaversOf = (events: HistoryEvent[]): Map<string, Leaver> => {
  const returns = new Map(ofKind(events, "return").map((event) => [event.id, event]));
  const leavers = new Map<string, Leaver>();
  for (const [request, calls] of groupBy(ofKind(events, "call"), (call) => call.request ?? "")) {
    const [call] = calls;
    const ended = call && returns.get(call.id);
    const isGone = ended?.outcome === "hung-up" || ended?.outcome === "cut";
    if (request !== "" && call && calls.length === 1 && isGone) leavers.set(request, { call, ended });
  }
  return leavers;
};

/**
 * What Redis had of one session: in the queue or with a lease from `since` until `untilMs`, and when it was granted
 * browsers.
 */
type Stay = { session: string; request: string; since: EventOf<"lease">; untilMs: number; grants: EventOf<"lease">[] };

const stays = (entries: EventOf<"lease">[], endMs: number): Stay[] => {
  const open = new Map<string, Stay>();
  const all: Stay[] = [];
  const stayOf = (session: string, request: string, since: EventOf<"lease">): Stay => {
    const known = open.get(session);
    if (known) return known;
    const stay = { session, request, since, untilMs: endMs, grants: [] };
    open.set(session, stay);
    all.push(stay);
    return stay;
  };
  const end = (session: string, atMs: number): void => {
    const stay = open.get(session);
    if (stay) stay.untilMs = atMs;
    open.delete(session);
  };
  replayLeases(entries, {
    before(change, _model, event) {
      const { what } = change;
      if (what === "queued" || what === "restored") stayOf(change.session, change.request ?? "", event);
      if (what === "granted") stayOf(change.session, change.request ?? "", event).grants.push(event);
      if (what === "left" || what === "ended" || what === "undone") end(change.session, event.at);
    },
    // What is gone with a loss is nobody's to give up.
    lost({ at }) {
      for (const session of [...open.keys()]) end(session, at);
    },
  });
  return all;
};

type View = { faults: FaultSpan[]; boundAt: Map<string, number> };

const tooLong = (
  { session, since, untilMs }: Stay,
  { call, ended }: Leaver,
  { faults, boundAt }: View,
): Violation[] => {
  if (ended.outcome !== "hung-up" || untilMs <= ended.at + giveUpMs) return [];
  if ((boundAt.get(session) ?? Number.POSITIVE_INFINITY) < ended.at + unawareMs) return [];
  if (!isCalm(faults, ended.at - recoveryMs, ended.at + giveUpMs)) return [];
  return [
    {
      kind: "timing",
      what: `${call.client} hung up, and its session ${session} stayed for ${Math.round(untilMs - ended.at)} ms`,
      events: [since, call, ended].toSorted((a, b) => a.at - b.at),
    },
  ];
};

const tooLate = ({ session, grants }: Stay, { call, ended }: Leaver, obstacles: FaultSpan[]): Violation[] =>
  grants
    .filter(({ at }) => at > ended.at + unheardMs && isCalm(obstacles, call.at - recoveryMs, at))
    .map((event) => ({
      what: `${session} was granted a browser ${Math.round(event.at - ended.at)} ms after its caller was gone`,
      events: [call, ended, event],
    }));

export const nothingLeftBehind: Check = {
  name: "nothing-left-behind",
  kind: "safety",
  promise: "a caller who is gone leaves the queue, holds no browser and gets none",
  find(events) {
    const leavers = leaversOf(events);
    const faults = faultSpansOf(events);
    const bound = ofKind(events, "agent").filter(({ what }) => what === "bound");
    const boundAt = new Map(bound.map(({ session = "", at }) => [session, at]));
    const obstacles = faults.filter(({ fault }) => !deaths.includes(fault));
    const endMs = markOf(events, "load-over")?.at ?? events.at(-1)?.at ?? 0;
    const pools = [...groupBy(ofKind(events, "lease"), ({ pool }) => pool).values()];
    return pools
      .flatMap((entries) => stays(entries, endMs))
      .flatMap((stay) => {
        const leaver = leavers.get(stay.request);
        return leaver ? [...tooLong(stay, leaver, { faults, boundAt }), ...tooLate(stay, leaver, obstacles)] : [];
      });
  },
};

/**
 * The leases of one pool as they stood after each script: the recorded changes carried out again.
 *
 * Redis may lose its newest writes (a kill, a failover) or all (a flush). Every entry carries how many were before it,
 * so a loss shows exactly: an entry whose number was seen before takes the place of that one, and of all after it.
 */
import type { EventOf, HistoryEvent } from "../history/history.ts";
import { ofKind } from "../history/history.ts";
import type { LeaseChange } from "../history/lease-event.ts";
import { groupBy } from "./views.ts";

type BrowserState = Extract<LeaseChange, { what: "state" }>["from"];

export type LeaseModel = {
  /** Browsers that have a record. */
  states: Map<string, { state: BrowserState; session: string | undefined }>;
  /** Ticket of each caller who waits. */
  queue: Map<string, number>;
  /** Browser of each session. */
  leases: Map<string, string>;
  /** False when entries were missed: then there is more than what stands here. */
  isWhole: boolean;
};

type LeaseVisitor = {
  /** Before each change is carried out; `model` may be read in this moment only. */
  before?(change: LeaseChange, model: LeaseModel, event: EventOf<"lease">): void;
  /** After all changes of one script. */
  after?(model: LeaseModel, event: EventOf<"lease">): void;
  /** Redis has lost entries, or the recorder has missed some. */
  lost?(event: EventOf<"lease">): void;
};

const emptyModel = (): LeaseModel => ({ states: new Map(), queue: new Map(), leases: new Map(), isWhole: true });

const carryOut = (change: LeaseChange, { states, queue, leases }: LeaseModel): void => {
  switch (change.what) {
    case "state":
      if (change.to === "none") states.delete(change.browser);
      else states.set(change.browser, { state: change.to, session: change.session });
      return;
    case "queued":
      queue.set(change.session, change.ticket);
      return;
    case "left":
      queue.delete(change.session);
      return;
    case "granted":
    case "restored":
      queue.delete(change.session);
      leases.set(change.session, change.browser);
      return;
    case "undone":
    case "ended":
      leases.delete(change.session);
      return;
    case "epoch":
      return;
  }
};

const replayed = (entries: EventOf<"lease">[]): LeaseModel => {
  const model = emptyModel();
  for (const change of entries.flatMap(({ changes }) => changes)) carryOut(change, model);
  return model;
};

/** `entries`: of one pool, in their order. Returns how the leases stood in the end. */
export const replayLeases = (entries: EventOf<"lease">[], visitor: LeaseVisitor): LeaseModel => {
  let model = emptyModel();
  let kept: EventOf<"lease">[] = [];
  for (const event of entries) {
    if (event.n !== kept.length) {
      // Entries that the recorder has missed are filled up, so that later numbers fit again.
      const missed =
        event.n > kept.length ? Array.from({ length: event.n }, () => ({ ...event, changes: [] })) : undefined;
      kept = missed ?? kept.slice(0, event.n);
      model = { ...replayed(kept), isWhole: missed === undefined && (model.isWhole || event.n === 0) };
      visitor.lost?.(event);
    }
    for (const change of event.changes) {
      visitor.before?.(change, model, event);
      carryOut(change, model);
    }
    kept.push(event);
    visitor.after?.(model, event);
  }
  return model;
};

/** Faults by which Redis may lose writes; a mere kill too, since it puts off its writes to a slow disk. */
const lossy = [
  "redis-kill",
  "redis-power-loss",
  "redis-flushall",
  "redis-failover",
  "redis-master-kill",
  "redis-master-freeze",
];

/**
 * When Redis lost writes, in any pool. A loss shows in the entries only when the recorder had read what was lost, so
 * the faults that cause it count too.
 */
export const lossesOf = (events: HistoryEvent[]): number[] => {
  const losses = ofKind(events, "fault")
    .filter(({ phase, fault }) => phase === "begin" && lossy.includes(fault))
    .map(({ at }) => at);
  for (const entries of groupBy(ofKind(events, "lease"), ({ pool }) => pool).values())
    replayLeases(entries, { lost: ({ at }) => losses.push(at) });
  return losses;
};

/**
 * The leases of one pool as they stood after each script: the recorded changes carried out again.
 *
 * Redis may lose its newest writes (a kill, a failover) or all (a flush), and a master that has lost its place may go on
 * writing for a moment, beside the new one. Every entry names the one before it, so the entries are a tree: each is
 * judged by the branch on which it stands.
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
  /** Redis has lost entries, or the recorder has missed some; also when the entry stands on another branch. */
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

/** The leases as they stood after this entry. */
const modelAfter = (last: string, known: ReadonlyMap<string, EventOf<"lease">>): LeaseModel => {
  const branch: EventOf<"lease">[] = [];
  let before = last;
  for (let entry = known.get(before); entry; entry = known.get(before)) {
    branch.push(entry);
    before = entry.after;
  }
  const model = emptyModel();
  for (const change of branch.reverse().flatMap(({ changes }) => changes)) carryOut(change, model);
  return { ...model, isWhole: before === "" };
};

/** `entries`: of one pool, in their order. Returns how the leases stood in the end. */
export const replayLeases = (entries: EventOf<"lease">[], visitor: LeaseVisitor): LeaseModel => {
  const known = new Map<string, EventOf<"lease">>();
  let model = emptyModel();
  let last = "";
  for (const event of entries) {
    if (event.after !== last) {
      model = modelAfter(event.after, known);
      visitor.lost?.(event);
    }
    for (const change of event.changes) {
      visitor.before?.(change, model, event);
      carryOut(change, model);
    }
    known.set(event.entry, event);
    last = event.entry;
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

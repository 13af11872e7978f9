/**
 * The latest events of a project, numbered, for all of its readers. A reader is a number: it costs no memory, and when
 * it is slower than the ring it finds that its next event is gone.
 */

import type { ProjectPermission } from "../../core/model/permission.ts";
import { awaitWith } from "../../platform/base/retry.ts";

/** `json`: the event as it is sent. `permission`: of a key that may see it. */
type RingEvent = { json: string; permission: ProjectPermission };

/** Most events and bytes of one ring, and most bytes of all rings together. */
export type RingBounds = { count: number; bytes: number; allBytes: number };

const usualBounds: RingBounds = { count: 1000, bytes: 8 * 2 ** 20, allBytes: 64 * 2 ** 20 };

export type Ring = {
  push(event: RingEvent): void;
  /** The number of the latest event, 0 before the first. */
  last(): number;
  /** The event of this number; undefined when it has not come yet. */
  at(number: number): RingEvent | "gone" | undefined;
  /** Resolves when there is an event after this number. Rejects with the reason of `signal`. */
  after(number: number, signal: AbortSignal): Promise<void>;
  /** What a reader that has seen the event of this number says of it. */
  idOf(number: number): string;
  /** The number of that id, if all events after it are here. */
  find(id: string): number | undefined;
  close(): void;
};

type Kept = RingEvent & { bytes: number };

type State = { events: Kept[]; first: number; bytes: number };

const idForm = /^(\w+)-(\d{1,15})$/;

/** The rings of a replica. */
export const createRings = (bounds: RingBounds = usualBounds) => {
  const states = new Set<State>();
  let allBytes = 0;
  const dropFirst = (state: State): void => {
    const bytes = state.events.shift()?.bytes ?? 0;
    state.first += 1;
    state.bytes -= bytes;
    allBytes -= bytes;
  };
  const isTooLarge = ({ events, bytes }: State): boolean =>
    events.length > 1 && (events.length > bounds.count || bytes > bounds.bytes);
  const makeRoom = (pushed: State): void => {
    while (isTooLarge(pushed)) dropFirst(pushed);
    while (allBytes > bounds.allBytes)
      dropFirst([...states].reduce((largest, each) => (each.bytes > largest.bytes ? each : largest), pushed));
  };
  /** `word`: that of its ids, which no other ring has. */
  const open = (word: string): Ring => {
    const state: State = { events: [], first: 1, bytes: 0 };
    states.add(state);
    const waiters = new Set<() => void>();
    const last = (): number => state.first + state.events.length - 1;
    return {
      push(event) {
        const bytes = Buffer.byteLength(event.json);
        state.events.push({ ...event, bytes });
        state.bytes += bytes;
        allBytes += bytes;
        makeRoom(state);
        for (const wake of waiters) wake();
      },
      last,
      at: (number) => (number < state.first ? "gone" : state.events[number - state.first]),
      async after(number, signal) {
        if (last() > number) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiters.add(resolve);
        await awaitWith(promise, signal).finally(() => waiters.delete(resolve));
      },
      idOf: (number) => `${word}-${number}`,
      find(id) {
        const [, ofRing, digits] = idForm.exec(id) ?? [];
        const number = Number(digits);
        return ofRing === word && number >= state.first - 1 && number <= last() ? number : undefined;
      },
      close() {
        states.delete(state);
        allBytes -= state.bytes;
      },
    };
  };
  return { open };
};

export type Rings = ReturnType<typeof createRings>;

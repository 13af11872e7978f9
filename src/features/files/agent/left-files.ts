/**
 * What sessions have left in their folders, until the API has stored it:
 *
 *   the lease begins ──► its end ──► copied, and the folder is emptied ──stored, 10 minutes, or no room──► forgotten
 *
 * The browser waits for the copy alone: nothing of it has a name, and it is encrypted, so the next holder may come
 * (copy-left.ts). It can be read by the session that it is of, and by no other.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { awaitWith } from "../../../platform/base/retry.ts";
import { mostLeft } from "./api.ts";
import { copyLeft, type Left, LeftLost } from "./copy-left.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Sessions at once, the present one too. */
const mostSessions = 5;

/** How long a copy may take, ms: the next holder waits for the browser. */
const copyMs = 10_000;

/** How long it waits to be stored, ms. */
const keptMs = 10 * 60_000;

/** How long the agent waits at its own end for a first reader, ms. */
const firstReaderMs = 2000;

/** What is there of an ended session. */
type Outcome = { left: Left } | { lost: LeftLost["why"] } | { none: true };

/** A part of what is left, at a place in index and bytes together; or what there is at all, before the first part. */
export type LeftPart =
  | { offset: number; bytes: Buffer }
  | Pick<Left, "indexBytes" | "contentBytes">
  | Exclude<Outcome, { left: Left }>;

type Kept = {
  session: string;
  bytes: number;
  outcome: PromiseWithResolvers<Outcome>;
  /** Aborted when it is forgotten. */
  over: AbortController;
  readers: number;
};

export type LeftFiles = {
  /** What this session leaves is to be kept. */
  begin(session: string): void;
  /** The lease is over. Resolves when the folder may be emptied. Never rejects. */
  end(): Promise<void>;
  /** What a session has left, once its lease is over; undefined when nothing of it is kept. */
  read(session: string): ((signal: AbortSignal) => AsyncIterable<LeftPart>) | undefined;
  /** Forgets what is stored. Whether there was anything. */
  forget(session: string): boolean;
  /** Waits for the API to store what there is, then forgets it. No lease is held any more. Never rejects. */
  settled(withinMs: number): Promise<void>;
};

const partsOf = async function* (left: Left, signal: AbortSignal): AsyncGenerator<LeftPart> {
  const { index, indexBytes, content, contentBytes } = left;
  yield { indexBytes, contentBytes };
  for (const { file, start, length } of [
    { file: index, start: 0, length: indexBytes },
    { file: content, start: indexBytes, length: contentBytes },
  ])
    for (let at = 0; at < length; ) {
      signal.throwIfAborted();
      const bytes = await file.read(at, length);
      yield { offset: start + at, bytes };
      at += bytes.length;
    }
};

/**
 * `folder`: that of the present session. `dataDir`: a folder of the agent. `mostBytes`: of one session, and of all of
 * them: the disk of a pod has no more room.
 */
export const createLeftFiles = (folder: SessionFolder, dataDir: string, mostBytes = mostLeft.bytes): LeftFiles => {
  const kept = new Map<string, Kept>();
  let present: Kept | undefined;

  const forget = (mine: Kept): void => {
    if (kept.get(mine.session) !== mine) return;
    kept.delete(mine.session);
    mine.over.abort();
    void mine.outcome.promise
      .then(async (outcome) => {
        if ("left" in outcome) await Promise.all([outcome.left.index.close(), outcome.left.content.close()]);
      })
      .catch(() => undefined);
  };
  const forgetOldest = (but: Kept): boolean => {
    const oldest = [...kept.values()].find((one) => one !== but);
    if (oldest) forget(oldest);
    return oldest !== undefined;
  };
  const bytesOfAll = (): number => [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const copy = async (mine: Kept): Promise<Outcome> => {
    const spend = (bytes: number): void => {
      mine.bytes += bytes;
      if (mine.bytes > mostBytes) throw new LeftLost("too_large");
      while (bytesOfAll() > mostBytes && forgetOldest(mine));
    };
    const signal = AbortSignal.any([mine.over.signal, AbortSignal.timeout(copyMs)]);
    try {
      const left = await copyLeft(folder, dataDir, { spend, signal });
      return left ? { left } : { none: true };
    } catch (error) {
      mine.bytes = 0;
      return { lost: error instanceof LeftLost ? error.why : "unreadable" };
    }
  };
  const allStored = (all: Kept[]): Promise<unknown> =>
    Promise.all(
      all.map(({ over: { signal } }) =>
        signal.aborted ? undefined : new Promise<void>((done) => signal.addEventListener("abort", () => done())),
      ),
    );
  /** Resolves when nobody has come to read after a while; else never. */
  const nobodyReads = async (): Promise<void> => {
    await sleep(firstReaderMs, undefined, { ref: false });
    if ([...kept.values()].some(({ readers }) => readers > 0)) await Promise.withResolvers<void>().promise;
  };
  return {
    begin(session) {
      present = { session, bytes: 0, outcome: Promise.withResolvers(), over: new AbortController(), readers: 0 };
      kept.set(session, present);
      while (kept.size > mostSessions && forgetOldest(present));
    },
    async end() {
      const mine = present;
      present = undefined;
      if (!mine) return;
      mine.outcome.resolve(await copy(mine));
      setTimeout(() => forget(mine), keptMs).unref();
    },
    read(session) {
      const mine = kept.get(session);
      if (!mine) return undefined;
      return async function* (reader) {
        mine.readers += 1;
        try {
          const signal = AbortSignal.any([reader, mine.over.signal]);
          const outcome = await awaitWith(mine.outcome.promise, signal);
          if ("left" in outcome) yield* partsOf(outcome.left, signal);
          else yield outcome;
        } finally {
          mine.readers -= 1;
        }
      };
    },
    forget(session) {
      const mine = kept.get(session);
      // Of the present session there is nothing yet.
      if (!mine || mine === present) return false;
      forget(mine);
      return true;
    },
    async settled(withinMs) {
      const all = [...kept.values()];
      await Promise.race([allStored(all), nobodyReads(), sleep(withinMs, undefined, { ref: false })]);
      for (const mine of all) forget(mine);
    },
  };
};

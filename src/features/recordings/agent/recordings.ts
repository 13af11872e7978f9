/**
 * The recordings of the lease that holds the browser, and of the last leases what the API has not stored yet.
 *
 *   start ──► recording ──stop, a bound, the lease's end──► ended ──stored, or 10 minutes──► forgotten
 *
 * One is recorded at a time. Those that have ended can be read by the session that they are of, and by no other.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { leaseIsOver } from "../../../core/agent/lease-fence.ts";
import type { LeaseFollower } from "../../../core/agent/lease-keeper.ts";
import { openUnnamedFile, type UnnamedFile } from "../../../core/agent/unnamed-file.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { RecordingEnd, RecordingStarted, StartRecording } from "./api.ts";
import type { Recording, RecordingDeps, startRecording } from "./recording.ts";

/** How long a video waits to be read after its end, ms. */
const keptMs = 10 * 60_000;

/** Videos at once, one of which may be recorded: what the disk of a browser's pod has room for. */
const mostKept = 3;

/** Time between two looks at a video that grows, ms. */
const growMs = 250;

/** How long the agent waits at its own end for videos to be read, ms. Their last second is all that is left by then. */
const lastReadMs = 1500;

/** A piece of a video, or its end. */
export type RecordingPart = { offset: number; bytes: Buffer } | { end: RecordingEnd; frames: number; dropped: number };

type Kept = {
  session: string;
  id: string;
  file: UnnamedFile;
  started: Promise<Recording>;
  /** Resolves when the API has stored it, or nobody wants it any more. */
  done: PromiseWithResolvers<void>;
  readers: number;
  isForgotten: boolean;
};

export type Recordings = Required<Pick<LeaseFollower, "begin" | "end">> & {
  /** Starts a recording of the present lease. The same call twice gets the same answer. */
  start(id: string, wanted: StartRecording): Promise<RecordingStarted | "replay_in_progress" | "too_many_requests">;
  /** Ends a recording; undefined when there is none. */
  stop(session: string, id: string): RecordingStarted | Promise<RecordingStarted> | undefined;
  /** Forgets a recording that is stored. Whether there was one. */
  forget(session: string, id: string): boolean;
  /** The video as it grows, after so many bytes. */
  read(session: string, id: string, after: number): ((signal: AbortSignal) => AsyncIterable<RecordingPart>) | undefined;
  /** Waits for a moment until what is being read is read. The lease is over. Never rejects. */
  settled(): Promise<void>;
};

/** `dataDir`: a folder of the agent. */
type RecordingsDeps = RecordingDeps & { dataDir: string; log: Logger };

const readOn = async function* (mine: Kept, after: number, signal: AbortSignal): AsyncGenerator<RecordingPart> {
  const { file, started, done } = mine;
  const recording = await started;
  let end: RecordingEnd | undefined;
  void recording.ended.then((why) => {
    end = why;
  });
  for (let offset = after; !signal.aborted && !mine.isForgotten; ) {
    // Asked before the bytes: what was written before the end is in the file by then.
    const over = end;
    const written = recording.written();
    if (offset < written) {
      const bytes = await file.read(offset, written);
      yield { offset, bytes };
      offset += bytes.length;
    } else if (over) {
      yield { end: over, ...recording.counts() };
      return;
    } else {
      const grown = sleep(growMs, undefined, { signal }).catch(() => undefined);
      await Promise.race([recording.ended, grown, done.promise]);
    }
  }
};

/** Few sessions are recorded: the code is loaded for them alone. */
const start: typeof startRecording = async (...given) => (await import("./recording.ts")).startRecording(...given);

/** No recording yet. */
export const createRecordings = ({ dataDir, log, ...deps }: RecordingsDeps): Recordings => {
  const kept = new Map<string, Kept>();
  let over = new AbortController();
  let starting = 0;

  const forget = (mine: Kept): void => {
    if (kept.get(mine.id) !== mine) return;
    kept.delete(mine.id);
    mine.isForgotten = true;
    mine.done.resolve();
    void mine.started
      .then((recording) => recording.stop("stopped"))
      .catch(() => undefined)
      .then(() => mine.file.close())
      .catch(() => undefined);
  };
  const follow = async (mine: Kept): Promise<void> => {
    const recording = await mine.started;
    const end = await recording.ended;
    const bytes = recording.written();
    log.info({ session_id: mine.session, replay_id: mine.id, end, bytes, ...recording.counts() }, "recording ended");
    await Promise.race([mine.done.promise, sleep(keptMs, undefined, { ref: false })]);
    forget(mine);
  };
  const find = (session: string, id: string): Kept | undefined => {
    const found = kept.get(id);
    return found?.session === session ? found : undefined;
  };
  const isRecording = async ({ started }: Kept): Promise<boolean> => {
    const recording = await started;
    return (await Promise.race([recording.ended, sleep(0, "recording" as const)])) === "recording";
  };
  const add = async (id: string, wanted: StartRecording, ofLease: AbortSignal): Promise<Recording> => {
    const file = await openUnnamedFile(dataDir);
    const started = start(wanted, { file, over: ofLease }, deps);
    const mine: Kept = {
      session: wanted.session_id,
      id,
      file,
      started,
      done: Promise.withResolvers(),
      readers: 0,
      isForgotten: false,
    };
    kept.set(id, mine);
    follow(mine).catch((err: unknown) => {
      log.error({ err, replay_id: id }, "a recording failed");
      forget(mine);
    });
    return started;
  };
  return {
    begin() {
      over.abort(leaseIsOver);
      over = new AbortController();
    },
    end: () => over.abort(leaseIsOver),
    async start(id, wanted) {
      // Now: after a wait the browser may be another lease's.
      const ofLease = over.signal;
      const same = find(wanted.session_id, id);
      if (same) return (await same.started).size;
      if (starting > 0) return "replay_in_progress";
      starting += 1;
      try {
        for (const other of kept.values()) if (await isRecording(other)) return "replay_in_progress";
        if (kept.size >= mostKept) return "too_many_requests";
        return (await add(id, wanted, ofLease)).size;
      } finally {
        starting -= 1;
      }
    },
    stop(session, id) {
      const mine = find(session, id);
      if (!mine) return undefined;
      return mine.started.then((recording) => {
        void recording.stop("stopped");
        return recording.size;
      });
    },
    forget(session, id) {
      const mine = find(session, id);
      if (mine) forget(mine);
      return mine !== undefined;
    },
    read(session, id, after) {
      const mine = find(session, id);
      if (!mine) return undefined;
      return async function* (signal) {
        mine.readers += 1;
        try {
          yield* readOn(mine, after, signal);
        } finally {
          mine.readers -= 1;
        }
      };
    },
    async settled() {
      const read = [...kept.values()].filter(({ readers }) => readers > 0).map(({ done }) => done.promise);
      await Promise.race([Promise.all(read), sleep(lastReadMs, undefined, { ref: false })]);
    },
  };
};

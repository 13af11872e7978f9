/**
 * The feeds of a replica: one for each project that has readers, until two minutes after the last of them has left, so
 * that a reader whose connection breaks goes on where it was. While there is a feed, the sources run.
 *
 *   (none) ──a reader comes──► read ──the last one leaves──► kept ──two minutes──► (none)
 *                               ▲                             │
 *                               └───────a reader comes────────┘
 */
import type { Project } from "../../core/projects/projects.ts";
import { unavailable } from "../../platform/base/errors.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createRings, type RingBounds } from "./ring.ts";
import { createBatches, type SnapshotDeps } from "./snapshot.ts";
import { type SourceDeps, type Sources, startSources } from "./sources.ts";
import { createTurns } from "./turns.ts";

/** How long a feed without readers is kept, ms. */
const usualKeptMs = 120_000;

/** How long a reader waits for the sources, ms. */
const usualLiveWithinMs = 5000;

type FeedsDeps = SourceDeps &
  Omit<SnapshotDeps, "batches" | "turns"> & { bounds?: RingBounds; keptMs?: number; liveWithinMs?: number };

export type EventFeeds = {
  /**
   * Joins the readers of the project until `leave`. When it resolves, nothing is missed any more. Throws `unavailable`,
   * or the reason of `signal`.
   */
  join(project: Project, signal: AbortSignal): Promise<{ feed: Feed; leave(): void }>;
  /** How many feeds there are. */
  size(): number;
  stop(): Promise<void>;
};

type Known = { feed: Feed; readers: number; forgotten: ReturnType<typeof setTimeout> | undefined };

/** Starts nothing before the first reader. */
export const createEventFeeds = (options: FeedsDeps): EventFeeds => {
  const { bounds, keptMs = usualKeptMs, liveWithinMs = usualLiveWithinMs, ...deps } = options;
  const shared = { rings: createRings(bounds), batches: createBatches(), turns: createTurns() };
  const known = new Map<string, Known>();
  let sources: Sources | undefined;
  let stopped: Promise<unknown> = Promise.resolve();
  const feeds = {
    of: (projectId: string) => known.get(projectId)?.feed,
    in: (namespace: string) => feeds.all().find(({ project }) => project.namespace === namespace),
    all: () => [...known.values()].map(({ feed }) => feed),
  };
  const forget = ({ feed, forgotten }: Known): void => {
    clearTimeout(forgotten);
    feed.close();
    known.delete(feed.project.id);
    if (known.size > 0 || !sources) return;
    stopped = Promise.all([stopped, sources.stop()]);
    sources = undefined;
  };
  const knownOf = (project: Project): Known => {
    const before = known.get(project.id);
    if (before && before.feed.project.namespace === project.namespace) return before;
    if (before) forget(before);
    const made = { feed: createFeed(project, { ...deps, ...shared }), readers: 0, forgotten: undefined };
    known.set(project.id, made);
    return made;
  };
  const enter = (project: Project): { feed: Feed; leave(): void } => {
    const one = knownOf(project);
    clearTimeout(one.forgotten);
    one.readers += 1;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      one.readers -= 1;
      if (one.readers > 0 || known.get(project.id) !== one) return;
      one.forgotten = setTimeout(() => forget(one), keptMs);
    };
    return { feed: one.feed, leave };
  };
  const whenLive = async (signal: AbortSignal): Promise<void> => {
    sources ??= startSources(feeds, deps);
    const late = AbortSignal.timeout(liveWithinMs);
    try {
      await sources.live(AbortSignal.any([signal, late]));
    } catch (error) {
      signal.throwIfAborted();
      throw late.aborted ? unavailable("a source of events", error) : error;
    }
  };
  return {
    async join(project, signal) {
      const joined = enter(project);
      signal.addEventListener("abort", joined.leave, { once: true });
      try {
        await whenLive(signal);
        return joined;
      } catch (error) {
        joined.leave();
        throw error;
      }
    },
    size: () => known.size,
    async stop() {
      for (const one of [...known.values()]) forget(one);
      shared.batches.clear();
      await stopped;
    },
  };
};

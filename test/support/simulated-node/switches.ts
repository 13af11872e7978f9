/** What can go wrong with the agents of a simulated node, and with which of them. */
import { seededRandom } from "../seeded-random.ts";

/** How an agent misbehaves until it is told otherwise; `{}` puts everything right. */
export type Switches = {
  /** Requests are looked at this much later, ms. */
  slowMs?: number;
  /** Requests are carried out at once and answered this much later, ms. */
  slowAnswerMs?: number;
  /** Takes connections and does nothing, as a stopped process; what it was asked meanwhile it does when it goes on. */
  dead?: boolean;
  /** Connections are refused; those it has are cut. */
  refusing?: boolean;
  /** A reset of the browser takes this long, ms. */
  resetMs?: number;
  /** Chromium does not answer. */
  unhealthy?: boolean;
  /** `bind`: says yes to every bind and takes none. `state`: says that it has never heard of any lease. */
  lying?: "bind" | "state";
};

/**
 * What happens to an agent once.
 *
 *   crash        Chromium dies: the agent says so and ends
 *   crash-agent  the agent's process is killed: connections break, no last word
 *   evict        the node puts the pod out: Failed, Evicted, no last word
 *   forget       the process starts again in the same pod and has forgotten every fence
 */
export type Accident = "crash" | "crash-agent" | "evict" | "forget";

/** Which agents: those that fit everything that is given; `{}`: all. */
export type Which = {
  /** Uids of pods. */
  pods?: string[];
  /** Uid of a pool. */
  pool?: string;
  /** 0 to 1; which ones make up the share is decided by `seed`, of those that fit otherwise. */
  share?: number;
  seed?: number;
};

/** How pods start from now on. */
export type Starts = {
  /** From the start of the pod until its agent answers, ms, and by how much more at most. */
  delayMs?: number;
  jitterMs?: number;
  /** Share of starts that fail with `start_failed`, 0 to 1. */
  failingShare?: number;
};

type Candidate = { uid: string; pool: string | undefined };

/** The chosen ones, in the order given. */
export const choose = <T extends Candidate>(candidates: T[], { pods, pool, share = 1, seed = 1 }: Which): T[] => {
  const fitting = candidates.filter(
    (one) => (!pods || pods.includes(one.uid)) && (pool === undefined || one.pool === pool),
  );
  if (share >= 1) return fitting;
  const random = seededRandom(seed);
  const lots = new Map(fitting.map((one) => [one, random()]));
  const drawn = fitting.toSorted((a, b) => (lots.get(a) ?? 0) - (lots.get(b) ?? 0));
  const chosen = new Set(drawn.slice(0, Math.round(fitting.length * share)));
  return fitting.filter((one) => chosen.has(one));
};

import type { Pools } from "../pools.ts";
import type { Random } from "../random.ts";
import type { RedisKind, SingleRedis } from "../topology/redis-host.ts";
import type { Topology } from "../topology.ts";

/** What a fault lays hands on. Two faults of one part never act at the same time. */
type Part = "redis-server" | "redis-links" | "kube-server" | "kube-doors" | "api" | "operator" | "agents" | "pools";

export type FaultContext = {
  topology: Topology;
  pools: Pools;
  random: Random;
  /** Resolves when the time that was drawn for this fault is over, or the run is stopped. */
  hold(): Promise<void>;
  /** Waits so many ms, not beyond the stop of the run. */
  pause(ms: number): Promise<void>;
  /** Begins the fault in the history; what it hits, for people. */
  begin(details?: Record<string, unknown>): void;
  /**
   * Ends the fault in the history, for a check that needs the instant; without it, it ends when `run` resolves.
   * `details`: what it found.
   */
  over(details?: Record<string, unknown>): void;
};

/** One kind of fault; the file's name is its name. */
export type Fault = {
  parts: readonly Part[];
  /** Shortest and longest length that is drawn, ms. */
  lengthMs: readonly [min: number, max: number];
  /** The kinds of Redis with which it can be caused; left out, any. */
  redis?: readonly RedisKind[];
  /** Why it can't be caused on this machine, if it can't. */
  unavailable?: () => string | undefined;
  /**
   * Causes it, and undoes it: when this resolves, nothing of the cause is left (the service may still recover). Calls
   * `begin` right before the cause.
   */
  run(context: FaultContext): Promise<void>;
};

/** What faults of one server alone work with. */
export const singleRedis = ({ redis }: Topology): SingleRedis => {
  if (!redis.single) throw new Error("this fault needs a single Redis server");
  return redis.single;
};

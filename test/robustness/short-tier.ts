/** The tier that every change must pass: small enough to run always, large enough that every kind of fault comes up. */
import type { FaultName } from "./faults/all-faults.ts";
import { freshSeed } from "./options.ts";
import { randomOf } from "./random.ts";
import type { HistoryRequest } from "./run-histories.ts";

/**
 * Seeds that never change, so that a failure is a change of the product; the fresh ones look for what these don't find.
 * Chosen so that every kind of fault of each history begins within its load, which a test holds them to.
 */
const fixedSeeds = [320, 298, 253, 255];
/** Beside the one of `withReplicas`. */
const freshHistories = 1;

/** Load of each history, ms; one whose faults take longer goes on until they are over. */
const loadMs = 20_000;

/** Faults of a Redis with replicas, and the load of their history, ms: each of them takes some ten seconds more. */
const replicaFaults: readonly FaultName[] = ["redis-master-kill", "redis-master-freeze"];
const replicaLoadMs = 8000;

/** Every run needs a further topology for it, so there is one, now of Sentinel and now of a Cluster. */
const withReplicas = (seed: number): HistoryRequest & { isFixed: boolean } => ({
  isFixed: false,
  seed,
  loadMs: replicaLoadMs,
  faults: replicaFaults,
  redis: seed % 2 === 0 ? "sentinel" : "cluster",
});

/** All `faults`, of a single Redis server, are dealt out to the fixed histories; a fresh one may draw any. */
export const shortTier = (faults: readonly FaultName[]): (HistoryRequest & { isFixed: boolean })[] => {
  const dealt = randomOf(1).shuffle(faults);
  const fixed = fixedSeeds.map((seed, index) => ({
    isFixed: true,
    seed,
    loadMs,
    faults: dealt.filter((_, place) => place % fixedSeeds.length === index),
  }));
  const fresh = Array.from({ length: freshHistories }, () => ({ isFixed: false, seed: freshSeed(), loadMs, faults }));
  return [...fixed, ...fresh, withReplicas(freshSeed())];
};

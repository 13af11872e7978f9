/**
 * What a history is made of, drawn from its seed: its pools, the number of its clients, and the faults with their
 * times. The same seed and options give the same plan. What then happens differs from run to run by the machine's own
 * timing.
 */
import { allFaults, type FaultName } from "./faults/all-faults.ts";
import type { Random } from "./random.ts";

export type PlannedFault = {
  fault: FaultName;
  /** From the start of the load, ms. */
  atMs: number;
  lengthMs: number;
};

type HistoryPlan = {
  pools: { size: number; fillRatePerMinute: number }[];
  clients: number;
  /** In the order of time. */
  faults: PlannedFault[];
  loadMs: number;
};

export type PlanOptions = {
  /** From the start of the load to the time when no further fault begins, ms. */
  loadMs: number;
  /** The kinds to choose from; each comes up before one comes up again. */
  faults: readonly FaultName[];
  /** Few browsers and clients: real ones need a hundred times what simulated ones do. */
  isSmall?: boolean;
  /** Instead of the usual numbers. */
  clients?: readonly [min: number, max: number];
  /** Percent of a pool that is started a minute, to choose from, instead of the usual ones. */
  fillRates?: readonly number[];
  /** How many faults act together, always, instead of the usual chance. */
  together?: number;
};

/** The load before the first fault, and the calm between two waves of them, ms. */
const firstMs = 1000;
const calmMs = [300, 1500] as const;

/** How many act together, and how often. */
const usualTogether = { "1": 4, "2": 4, "3": 2 };

/** Within a wave a fault begins this much after the wave at most, ms. */
const spreadMs = 800;

/** The next faults of the queue whose parts differ; those that don't fit stay in it. */
const takeWave = (queue: FaultName[], count: number): FaultName[] => {
  const wave: FaultName[] = [];
  const taken = new Set<string>();
  for (const name of [...queue]) {
    const { parts } = allFaults[name];
    if (wave.length === count || parts.some((part) => taken.has(part))) continue;
    for (const part of parts) taken.add(part);
    wave.push(name);
    queue.splice(queue.indexOf(name), 1);
  }
  return wave;
};

const planFaults = (random: Random, { loadMs, faults, together }: PlanOptions): PlannedFault[] => {
  const planned: PlannedFault[] = [];
  if (faults.length === 0) return planned;
  let queue: FaultName[] = [];
  let atMs = firstMs;
  while (atMs < loadMs) {
    if (queue.length === 0) queue = random.shuffle(faults);
    const wave = takeWave(queue, together ?? Number(random.weighted(usualTogether))).map((fault) => {
      const [shortest, longest] = allFaults[fault].lengthMs;
      return { fault, atMs: atMs + random.int(0, spreadMs), lengthMs: random.int(shortest, longest) };
    });
    planned.push(...wave);
    atMs = Math.max(...wave.map((one) => one.atMs + one.lengthMs)) + random.int(...calmMs);
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
};

type Ranges = Record<"pools" | "size" | "clients", readonly [min: number, max: number]>;
const usual: Ranges = { pools: [3, 4], size: [4, 12], clients: [36, 60] };
const usualFillRates = [1500, 3000, 6000];
const small: Ranges = { pools: [1, 2], size: [2, 3], clients: [5, 10] };

export const planHistory = (random: Random, options: PlanOptions): HistoryPlan => {
  const { pools, size, clients } = options.isSmall ? small : usual;
  const sizes = random.fork("sizes");
  return {
    pools: Array.from({ length: sizes.int(...pools) }, () => ({
      size: sizes.int(...size),
      fillRatePerMinute: sizes.pick(options.fillRates ?? usualFillRates),
    })),
    clients: sizes.int(...(options.clients ?? clients)),
    faults: planFaults(random.fork("faults"), options),
    loadMs: options.loadMs,
  };
};

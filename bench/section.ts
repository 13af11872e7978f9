/** What a section of the benchmark is, and what it returns. */

/** Base units; the table chooses a readable scale. */
export type Unit = "ms" | "bytes" | "bytes/s" | "1/s" | "count";

/** A bound on the figure itself, on its ratio to the floor, or on its difference from the floor. */
type Target = { of: "measured" | "ratio" | "added" } & ({ atMost: number } | { atLeast: number });

/**
 * One line of the table. `floor`: the cost of the same thing without us, measured in the same run, in the same unit.
 */
export type Row = {
  what: string;
  unit: Unit;
  measured: number;
  floor?: { what: string; value: number };
  target?: Target;
};

export type Bench = {
  /** How long to measure: the command line's value, or `fallback`. */
  seconds(fallback: number): number;
  /** How many leases a section makes that counts them: the command line's value, or `fallback`. */
  leases(fallback: number): number;
  /** How many browsers a section has that plays many: the command line's value, or `fallback`. */
  browsers(fallback: number): number;
  /** The folder where browserless is installed, to compare with it; undefined: it is left out. */
  browserless: string | undefined;
  /** Aborted when the run must stop; the section then cleans up and rejects. */
  signal: AbortSignal;
  /** The same numbers in every run with the same `--seed`. */
  random(): () => number;
  /** Prints progress. */
  say(text: string): void;
};

/**
 * A file of `bench/sections/` exports one as `section`. `run` starts what it needs, measures and leaves nothing behind.
 * It rejects only when it could not measure, never because a figure is bad. `detail`: further data for the JSON.
 */
export type Section = {
  name: string;
  summary: string;
  run(bench: Bench): Promise<{ rows: Row[]; detail?: unknown }>;
};

/** What a part of the benchmark is, and what it has to say. */

/** Base units; the table chooses what reads best. */
export type Unit = "ms" | "bytes" | "bytes/s" | "1/s" | "count";

/** A bound on the figure itself, on its ratio to the floor, or on what it adds to the floor. */
export type Target = { of: "measured" | "ratio" | "added" } & ({ atMost: number } | { atLeast: number });

/** One line of the table. `floor`: what the same thing costs without us, measured in the same run, in the same unit. */
export type Row = {
  what: string;
  unit: Unit;
  measured: number;
  floor?: { what: string; value: number };
  target?: Target;
};

export type Bench = {
  /** How long to measure: what the command line asks for, or `fallback`. */
  seconds(fallback: number): number;
  /** Aborted when the run is to stop; a section then cleans up and rejects. */
  signal: AbortSignal;
  /** The same numbers in every run with the same `--seed`. */
  random(): () => number;
  /** Tells people what goes on. */
  say(text: string): void;
};

/**
 * A file of `bench/sections/` exports one as `section`. `run` starts what it needs, measures and leaves nothing behind;
 * it rejects only when it could not measure, never because a figure is bad. `detail`: whatever else should stand in the JSON.
 */
export type Section = {
  name: string;
  summary: string;
  run(bench: Bench): Promise<{ rows: Row[]; detail?: unknown }>;
};

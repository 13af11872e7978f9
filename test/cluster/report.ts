/** What a run says while it goes on, and what it leaves as JSON: every step and every check with its time. */
import { inspect } from "node:util";
import { isTimeOver } from "./time-over.ts";

/** `isTimeOver`: the error says that a time was over, and nothing else. */
export type Outcome = { name: string; seconds: number; detail?: string; error?: string; isTimeOver?: boolean };
export type PhaseOutcome = Outcome & { checks: Outcome[]; skipped?: string };

/**
 * One thing that must be so. A text that `does` resolves with is said beside it; a failure is noted and the phase goes
 * on.
 */
export type Check = (what: string, does: () => Promise<unknown>) => Promise<void>;

/** Thrown by a phase that can't be done here; the reason is said, and it counts as skipped. */
export class Skipped extends Error {
  override name = "Skipped";
}

export type Report = {
  /**
   * A step without which nothing goes on: passes on what `does` throws. The second of what it resolves with is said.
   */
  step<T>(name: string, does: () => Promise<readonly [T, string]>): Promise<T>;
  /** A phase of the suite; never rejects. Done once more, its second outcome takes the place of the first. */
  phase(name: string, does: (check: Check) => Promise<void>): Promise<void>;
  outcomes: { steps: Outcome[]; phases: PhaseOutcome[] };
};

type Timed<T> = { seconds: number; value?: T | undefined; error?: unknown };

const timed = async <T>(does: () => Promise<T>): Promise<Timed<T>> => {
  const startMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startMs) / 100) / 10;
  try {
    const value = await does();
    return { seconds: seconds(), value };
  } catch (error) {
    return { seconds: seconds(), error };
  }
};

/** Often enough to show life, rare enough for a log. */
const signOfLifeMs = 60_000;

const withSignsOfLife = async <T>(does: () => Promise<T>, say: (line: string) => void): Promise<T> => {
  const startMs = performance.now();
  const timer = setInterval(() => say(`  …  ${Math.round((performance.now() - startMs) / 1000)} s`), signOfLifeMs);
  return does().finally(() => clearInterval(timer));
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : inspect(error));

const outcomeOf = (name: string, { seconds, value, error }: Timed<unknown>): Outcome => ({
  name,
  seconds,
  ...(typeof value === "string" && { detail: value }),
  ...(error !== undefined && { error: textOf(error), isTimeOver: isTimeOver(error) }),
});

const isLong = (detail: string): boolean => detail.includes("\n");

const linesOf = ({ name, seconds, detail, error }: Outcome): string =>
  [
    `  ${error === undefined ? "ok    " : "FAILED"}  ${name}${detail && !isLong(detail) ? `: ${detail}` : ""} (${seconds} s)`,
    ...(detail && isLong(detail) ? detail.split("\n").map((line) => `          ${line}`) : []),
    ...(error === undefined ? [] : error.split("\n").map((line) => `          ${line}`)),
  ].join("\n");

export const createReport = (say: (line: string) => void): Report => {
  const outcomes: Report["outcomes"] = { steps: [], phases: [] };
  const createCheck =
    (checks: Outcome[]): Check =>
    async (what, does) => {
      const done = await timed(() => withSignsOfLife(does, say));
      if (done.error instanceof Skipped) throw done.error;
      const outcome = outcomeOf(what, done);
      checks.push(outcome);
      say(linesOf(outcome));
    };
  return {
    outcomes,
    async step(name, does) {
      say(`${name} …`);
      const { seconds, value, error } = await timed(() => withSignsOfLife(does, say));
      const outcome = outcomeOf(name, { seconds, value: value?.[1], error });
      outcomes.steps.push(outcome);
      if (!value) {
        say(`${name}: FAILED after ${seconds} s`);
        throw error;
      }
      say(`${name}: ${value[1]} (${seconds} s)`);
      return value[0];
    },
    async phase(name, does) {
      say(name);
      const checks: Outcome[] = [];
      const done = await timed(() => does(createCheck(checks)));
      outcomes.phases = outcomes.phases.filter((phase) => phase.name !== name);
      const skipped = done.error instanceof Skipped ? done.error.message : undefined;
      if (skipped !== undefined) {
        say(`  skipped: ${skipped}`);
        outcomes.phases.push({ name, seconds: done.seconds, checks, skipped });
        return;
      }
      if (done.error !== undefined) say(linesOf(outcomeOf("came to its end", done)));
      outcomes.phases.push({ ...outcomeOf(name, done), checks });
    },
  };
};

/**
 * How many checks have passed and failed, and how many phases were skipped; a phase that broke off is a failed check.
 */
export const totals = (phases: PhaseOutcome[]): { passed: number; failed: number; skipped: number } => {
  const failed = (outcome: Outcome): boolean => outcome.error !== undefined;
  const checks = phases.flatMap((phase) => phase.checks);
  return {
    passed: checks.filter((check) => !failed(check)).length,
    failed: [...checks, ...phases].filter(failed).length,
    skipped: phases.filter(({ skipped }) => skipped !== undefined).length,
  };
};

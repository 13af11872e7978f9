/** What `browserpool doctor` finds: one line for each thing that can be wrong, with the way out where it is. */
import { styleText } from "node:util";

/**
 * `problem`: something does not work; `warning`: it works with less; `skipped`: it can't be told here. `wayOut`: what
 * to do about a problem or a warning, as commands where there are some.
 */
export type Finding = {
  name: string;
  state: "ok" | "warning" | "problem" | "skipped";
  says: string;
  wayOut?: string;
};

/** What a check has found. */
export type Found = Omit<Finding, "name">;

/** It works. */
export const ok = (says: string): Found => ({ state: "ok", says });

/** Something does not work. */
export const problem = (says: string, wayOut: string): Found => ({ state: "problem", says, wayOut });

/** It works with less. */
export const warning = (says: string, wayOut: string): Found => ({ state: "warning", says, wayOut });

/** It can't be told here. */
export const skipped = (says: string): Found => ({ state: "skipped", says });

/** A finding names no more than these. */
const mostNamed = 3;

/** The first of many texts of one finding, and how many more there are. */
export const firstOf = (texts: readonly string[]): string => {
  const more = texts.length > mostNamed ? `; and ${texts.length - mostNamed} more` : "";
  return `${texts.slice(0, mostNamed).join("; ")}${more}`;
};

/**
 * A check: its name, and what it finds. A check that throws has found a problem: it could not be made. `limitMs`: its
 * longest time; left out, 20 s.
 */
export type Check = { name: string; limitMs?: number; find(signal: AbortSignal): Promise<Found> };

const usualMs = 20_000;

/** Makes the checks, all at once, and returns their findings in the order of the checks. */
export const findAll = (checks: readonly Check[], signal: AbortSignal): Promise<Finding[]> =>
  Promise.all(
    checks.map(async ({ name, limitMs = usualMs, find }) => {
      try {
        return { name, ...(await find(AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))) };
      } catch (error) {
        signal.throwIfAborted();
        return { name, state: "problem" as const, says: error instanceof Error ? error.message : String(error) };
      }
    }),
  );

const marks = { ok: "ok", warning: "warning", problem: "problem", skipped: "-" } as const;
const colours = { ok: "green", warning: "yellow", problem: "red", skipped: "dim" } as const;

/** The findings for people: a line each, and the way out below. */
export const describe = (findings: readonly Finding[]): string => {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, state, says, wayOut }) => [
    `${styleText(colours[state], marks[state].padEnd(8), { stream: process.stdout })} ${name.padEnd(width)}  ${says}`,
    ...(wayOut && state !== "ok" ? wayOut.split("\n").map((line) => `${" ".repeat(9 + width + 2)}→ ${line}`) : []),
  ]);
  const count = (state: Finding["state"]): number => findings.filter((one) => one.state === state).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  const sum = `${problems} problem${problems === 1 ? "" : "s"}, ${warnings} warning${warnings === 1 ? "" : "s"}, ${count("ok")} ok`;
  return [...lines, "", sum].join("\n");
};

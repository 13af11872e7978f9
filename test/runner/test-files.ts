import { globSync } from "node:fs";
import { join } from "node:path";
import { type Draw, drawn } from "../support/draw.ts";

/** The project's tree. */
export const root = join(import.meta.dirname, "../..");

/** Where unit tests are: they start no servers and no browsers. */
export const unitPatterns: readonly string[] = ["src/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"];

/** Where all other tests are. */
export const integrationPattern = "test/**/*.test.ts";

const isSlow = (file: string): boolean => file.endsWith(".slow.test.ts");

const filesOf = (patterns: readonly string[]): string[] => globSync([...patterns], { cwd: root }).toSorted();

/** What `npm test` leaves out: files whose name says that they take more than some ten seconds. */
export const slowTests = (): string[] => filesOf([integrationPattern]).filter(isSlow);

/** What `npm test` runs. */
export const quickTests = (): string[] =>
  filesOf([...unitPatterns, integrationPattern]).filter((file) => !isSlow(file));

/** A share of the slow tests. */
export const drawnSlowTests = (draw: Draw): string[] => drawn(slowTests(), draw);

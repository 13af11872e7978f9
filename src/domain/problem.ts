import type { z } from "zod";
import { joinPath, type Path, wirePath } from "../resources/wire.ts";

/** What is wrong with one field of a spec. `path`: from the spec down, in camelCase, e.g. `["network", "privateHosts", 3]`. */
export type SpecProblem = { path: Path; message: string };

/** What is wrong with one field as its writer wrote it, e.g. `network.private_hosts[3]`. */
export type Problem = { path: string; message: string };

/** One problem; saves the braces in long lists of checks. */
export const problemAt = (path: Path, message: string): SpecProblem => ({ path, message });

/** For writers of JSON requests: the path in snake_case, following the schema of the spec. */
export const wireProblems = (schema: z.ZodType, problems: SpecProblem[]): Problem[] =>
  problems.map(({ path, message }) => ({ path: joinPath(wirePath(schema, path)), message }));

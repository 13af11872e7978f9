import type { z } from "zod";
import { joinPath, type Path, wirePath } from "../kinds/wire.ts";

/**
 * A problem of one field of a spec. `path`: from the spec down, in camelCase, e.g. `["network", "privateHosts", 3]`.
 */
export type SpecProblem = { path: Path; message: string };

/** A problem of one field in the caller's spelling, e.g. `network.private_hosts[3]`. */
export type Problem = { path: string; message: string };

/** Makes one problem; it keeps long lists of checks short. */
export const problemAt = (path: Path, message: string): SpecProblem => ({ path, message });

/** Converts problems for HTTP answers: the paths in snake_case, by the schema of the spec. */
export const wireProblems = (schema: z.ZodType, problems: SpecProblem[]): Problem[] =>
  problems.map(({ path, message }) => ({ path: joinPath(wirePath(schema, path)), message }));

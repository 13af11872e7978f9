import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisConnection } from "./connection.ts";

/** A Lua script: its text with all includes, and the SHA-1 by which Redis identifies it. */
export type Script = { name: string; text: string; sha: string };

const includeLine = /^-- @include (.+)$/m;

/** The first line of a script that Redis must run also while its memory is full: a script that ends or frees something. */
const flagsLine = /^#!lua .*\n/;

const read = (url: URL): string => readFileSync(url, "utf8");

/**
 * Reads `scripts/<name>.lua` beside the caller and puts the files named in its `-- @include a b` line in front of it. A line
 * `#!lua flags=…` stays the first one.
 * `caller`: the `import.meta.url` of the calling file.
 */
export const loadScript = (name: string, caller: string): Script => {
  const folder = new URL("scripts/", caller);
  const body = read(new URL(`${name}.lua`, folder));
  const includes = includeLine.exec(body)?.[1]?.split(" ") ?? [];
  const flags = flagsLine.exec(body)?.[0] ?? "";
  const code = body.slice(flags.length);
  const text =
    flags + [...includes.map((include) => read(new URL(`includes/${include}.lua`, folder))), code].join("\n");
  return { name, text, sha: createHash("sha1").update(text).digest("hex") };
};

/** Runs a script by its hash. Sends the text only when Redis does not have it (after a restart or SCRIPT FLUSH). */
export const runScript = async (
  redis: RedisConnection,
  script: Script,
  keys: string[],
  argv: (string | number)[],
): Promise<unknown> => {
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...argv);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(script.text, keys.length, ...keys, ...argv);
  }
};

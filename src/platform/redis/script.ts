import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisConnection } from "./connection.ts";

// Readers of what scripts reply: each throws an Error for a reply of another shape. They look at the outermost level
// only, which costs next to nothing: JSON inside is its reader's to check.

const unexpected = (reply: unknown, expected: string): Error =>
  new Error(`a Redis script replied with ${reply === null ? "nil" : typeof reply} instead of ${expected}`);

/** A list, of anything. */
export const listReply = (reply: unknown): unknown[] => {
  if (!Array.isArray(reply)) throw unexpected(reply, "a list");
  return reply;
};

/** A string. */
export const textReply = (reply: unknown): string => {
  if (typeof reply !== "string") throw unexpected(reply, "a string");
  return reply;
};

/** An integer. */
export const numberReply = (reply: unknown): number => {
  if (typeof reply !== "number") throw unexpected(reply, "an integer");
  return reply;
};

/** A list of strings. */
export const textsReply = (reply: unknown): string[] => listReply(reply).map(textReply);

const namesBySha = new Map<string, string>();

/** The name of a script that this process has read, by the SHA-1 by which Redis identifies it. */
export const scriptName = (sha: string): string | undefined => namesBySha.get(sha);

/** A Lua script: its text with all includes, and the SHA-1 by which Redis identifies it. */
export type Script = { name: string; text: string; sha: string };

const includeLine = /^-- @include (.+)$/m;

/**
 * The first line of a script that Redis must run also while its memory is full: a script that ends or frees something.
 */
const flagsLine = /^#!lua .*\n/;

const read = (url: URL): string => readFileSync(url, "utf8");

/**
 * Reads `scripts/<name>.lua` beside the caller and puts the files named in its `-- @include a b` line in front of it. A
 * line `#!lua flags=…` stays the first one. `caller`: the `import.meta.url` of the calling file.
 */
export const loadScript = (name: string, caller: string): Script => {
  const folder = new URL("scripts/", caller);
  const body = read(new URL(`${name}.lua`, folder));
  const includes = includeLine.exec(body)?.[1]?.split(" ") ?? [];
  const flags = flagsLine.exec(body)?.[0] ?? "";
  const code = body.slice(flags.length);
  const text =
    flags + [...includes.map((include) => read(new URL(`includes/${include}.lua`, folder))), code].join("\n");
  const sha = createHash("sha1").update(text).digest("hex");
  namesBySha.set(sha, name);
  return { name, text, sha };
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

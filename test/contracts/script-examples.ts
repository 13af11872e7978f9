/**
 * The recorded calls of the Lua scripts, one file of scripts/ for each script. Replicas of two versions use one Redis
 * while an installation is upgraded: the scripts of each find what those of the other have left.
 */
import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { loadScript, type Script } from "../../src/platform/redis/script.ts";

/** Where the examples are. */
export const scriptsFolder = join(import.meta.dirname, "scripts");

/** The scripts are somewhere below it, in folders of their callers. */
const source = join(import.meta.dirname, "../../src");

/** A key's value, as its type stores it; `expires`: in so many seconds. Values that are objects are JSON. */
const Stored = z.strictObject({
  hash: z.record(z.string(), z.unknown()).optional(),
  zset: z.array(z.tuple([z.string(), z.union([z.number(), z.string()])])).optional(),
  stream: z.array(z.tuple([z.string(), z.array(z.unknown())])).optional(),
  text: z.unknown().optional(),
  expires: z.number().optional(),
});
export type Stored = z.infer<typeof Stored>;

export const ScriptCall = z.strictObject({
  /** What the example shows. */
  says: z.string(),
  /**
   * The method that makes the call (script-callers.ts), and with what. Left out: it makes this one after others, or
   * later.
   */
  call: z.tuple([z.string()], z.unknown()).optional(),
  /** What other commands of that method get for an answer, by their names. */
  others: z.record(z.string(), z.unknown()).optional(),
  /** Channels that replicas listen to. */
  listening: z.array(z.string()).optional(),
  before: z.record(z.string(), Stored),
  keys: z.array(z.string()),
  argv: z.array(z.union([z.string(), z.number()])),
  answer: z.unknown(),
  /** What the method resolves with. */
  result: z.unknown().optional(),
  /** The keys that are another after it; null: the key is gone. */
  after: z.record(z.string(), Stored.nullable()).optional(),
  /** Channel and message of all that was published. */
  told: z.array(z.tuple([z.string(), z.unknown()])).optional(),
});
export type ScriptCall = z.infer<typeof ScriptCall>;

/** A file of examples. `script`: `core/leases/take`. */
const ScriptFile = z.strictObject({ script: z.string(), calls: z.array(ScriptCall).min(1) });

/** The scripts that there are, by their names in examples. */
export const scriptNames: string[] = globSync("**/scripts/*.lua", { cwd: source }).map((file) =>
  file.replace("/scripts/", "/").slice(0, -".lua".length),
);

/** The script of this name, as its caller loads it. */
export const scriptOf = (name: string): Script =>
  loadScript(basename(name), pathToFileURL(join(source, dirname(name), "caller.ts")).href);

type ScriptExample = ScriptCall & { script: string; title: string };

/** All of them. */
export const scriptExamples = (): ScriptExample[] =>
  readdirSync(scriptsFolder)
    .sort()
    .flatMap((file) => {
      const { script, calls } = ScriptFile.parse(JSON.parse(readFileSync(join(scriptsFolder, file), "utf8")));
      return calls.map((call) => ({ ...call, script, title: `${script}: ${call.says}` }));
    });

/**
 * Records what an example of a script does not say yet: `node test/contracts/record-scripts.ts [FILE…]` of scripts/. An
 * example that has only `says`, `call`, `before` (and `others`, `listening`) gets keys, arguments, answer, result,
 * messages and the keys that have changed. What an example says already stays as it is.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Redis } from "ioredis";
import { z } from "zod";
import { startRedisServer } from "../support/redis-servers.ts";
import {
  type Hearing,
  listenOn,
  type Moment,
  momentOf,
  readDeep,
  readState,
  readText,
  writeState,
} from "./redis-state.ts";
import { firstCall, replayed } from "./script-callers.ts";
import { ScriptCall, type Stored, scriptOf, scriptsFolder } from "./script-examples.ts";

const Unrecorded = ScriptCall.partial().required({ says: true, call: true, before: true });
const File = z.strictObject({ script: z.string(), calls: z.array(z.union([ScriptCall, Unrecorded])) });

const nearSeconds = 10;

const offset = (ms: number): string => (ms === 0 ? "" : ms > 0 ? `+${ms}` : String(ms));

/** What is of this moment, by its name. */
const named = (value: unknown, now: Moment): unknown => {
  if (typeof value === "number" || (typeof value === "string" && /^\d{13,16}$/.test(value))) {
    const number = Number(value);
    if (Math.abs(number / 1000 - now.ms) < nearSeconds * 1000) return "{us}";
    const awayMs = Math.round((number - now.ms) / 1000) * 1000;
    const isRecent = number > 1e12 && Math.abs(awayMs) < 40 * 86_400_000;
    return isRecent ? `{ms${offset(awayMs)}}` : value;
  }
  const hour = Math.floor(now.ms / 3_600_000);
  const hours = typeof value === "string" && /^\d{6}$/.test(value) ? Number(value) - hour : Number.NaN;
  if (Math.abs(hours) < 100) return `{hour${offset(hours)}}`;
  if (typeof value === "string") {
    return value
      .replaceAll(now.run, "{run}")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "{uuid}")
      .replaceAll(/\b\d{13}\b/g, (found) => String(named(Number(found), now)));
  }
  if (Array.isArray(value)) return value.map((item) => named(item, now));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [named(key, now), named(inner, now)]));
};

const texts = (answer: unknown): unknown => (Array.isArray(answer) ? answer.map(readText) : readText(answer));

type State = Record<string, Stored | null>;

/** What is another after a call. */
const changes = (before: State, after: State): State => {
  const gone = Object.keys(before).map((key): [string, null] => [key, null]);
  const all = Object.entries({ ...Object.fromEntries(gone), ...after });
  return Object.fromEntries(all.filter(([key, stored]) => !isDeepStrictEqual(before[key], stored)));
};

const withoutEmpty = (parts: Record<string, object>): Record<string, object> =>
  Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0));

const record = async (
  name: string,
  example: z.infer<typeof Unrecorded>,
  { redis, hearing }: { redis: Redis; hearing: Hearing },
): Promise<ScriptCall> => {
  await redis.flushall();
  const now = await momentOf(redis);
  await writeState(redis, example.before, now);
  const stored = await readState(redis);
  // What a method makes of the answer is not known yet, and may be an error.
  const calling = { ...example, script: name };
  const { calls } = await firstCall(calling, now);
  const [made] = calls;
  if (!made) throw new Error(`${name}: ${example.call[0]} does not call it`);
  const { keys, argv } = made;
  const { made: answer, told } = await hearing.during(example.listening ?? [], () =>
    redis.eval(scriptOf(name).text, keys.length, ...keys, ...argv.map(String)),
  );
  const after = await readState(redis);
  const said = named(texts(answer), now);
  const { result } = await replayed({ ...calling, answer: said }, now);
  const seen = { keys, argv: named(argv, now), answer: said, ...(result !== null && { result: named(result, now) }) };
  const more = withoutEmpty({
    after: changes(named(stored, now) as State, named(after, now) as State),
    told: named(readDeep(told), now) as object,
  });
  return ScriptCall.parse({ ...seen, ...more, ...example });
};

const main = async (files: string[]): Promise<void> => {
  await using server = await startRedisServer(['save ""']);
  const redis = server.admin();
  const hearing = await listenOn(server.admin);
  for (const file of files) {
    const path = join(scriptsFolder, file);
    const { script, calls } = File.parse(JSON.parse(readFileSync(path, "utf8")));
    const recorded: ScriptCall[] = [];
    for (const call of calls) {
      const whole = ScriptCall.safeParse(call);
      recorded.push(
        whole.success ? whole.data : await record(script, call as z.infer<typeof Unrecorded>, { redis, hearing }),
      );
    }
    writeFileSync(path, `${JSON.stringify({ script, calls: recorded }, null, 2)}\n`);
  }
};

const given = process.argv.slice(2).map((file) => basename(file));
await main(given.length > 0 ? given : readdirSync(scriptsFolder));

import type { RedisConnection } from "./connection.ts";
import { loadScript, runScript } from "./script.ts";

const script = loadScript("delete-value", import.meta.url);

/** Deletes a key if it has this value. Returns whether it had. */
export const deleteValue = async (redis: RedisConnection, key: string, value: string): Promise<boolean> =>
  (await runScript(redis, script, [key], [value])) === 1;

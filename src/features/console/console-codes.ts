/**
 * Codes with which a person opens the console without typing an API key: whoever has the key makes one, and a browser
 * exchanges it, once, for a session. A key has one code at a time; a newer one replaces it.
 *
 * Redis keeps the SHA-256 of the code; a fast hash is safe for random bits, which no dictionary contains.
 */
import { createHash, randomBytes } from "node:crypto";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { deleteValue } from "../../platform/redis/delete-value.ts";
import { consoleCodeKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";

export type ConsoleCodes = {
  /** A new code of this API key, good for an hour. */
  make(keyId: string): Promise<{ code: string; expiresAtMs: number }>;
  /** The id of the code's API key; undefined for a code that was used, is too old, or was never made. */
  use(code: string): Promise<string | undefined>;
};

const lifeMs = 60 * 60 * 1000;

/** The id of an API key, a dot, and 32 random bytes. */
const pattern = /^([a-z0-9-]{1,63})\.[\w-]{43}$/;

const digest = (code: string): string => createHash("sha256").update(code).digest("hex");

/** Codes in this Redis, of all replicas. They throw `unavailable` when it is away. */
export const createConsoleCodes = (redis: RedisConnection): ConsoleCodes => ({
  async make(keyId) {
    const code = `${keyId}.${randomBytes(32).toString("base64url")}`;
    await orUnavailable(redis.set(consoleCodeKey(keyId), digest(code), "PX", lifeMs));
    return { code, expiresAtMs: Date.now() + lifeMs };
  },
  async use(code) {
    const keyId = pattern.exec(code)?.[1];
    if (keyId === undefined) return undefined;
    return (await orUnavailable(deleteValue(redis, consoleCodeKey(keyId), digest(code)))) ? keyId : undefined;
  },
});

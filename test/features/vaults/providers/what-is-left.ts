/** What a login leaves behind outside of Secrets. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { authConnectionKind } from "../../../../src/features/vaults/connections/auth-connection.ts";
import type { LocalProject } from "../../../support/stack.ts";

const readers: Record<string, (redis: Redis, key: string) => Promise<unknown>> = {
  string: (redis, key) => redis.get(key),
  hash: (redis, key) => redis.hgetall(key),
  list: (redis, key) => redis.lrange(key, 0, -1),
  zset: (redis, key) => redis.zrange(key, 0, "-1"),
  stream: (redis, key) => redis.xrange(key, "-", "+"),
};

/** All that Redis has, as text. */
const redisContents = async (url: string): Promise<string> => {
  const redis = new Redis(url);
  const texts: string[] = [];
  for (const key of await redis.keys("*"))
    texts.push(JSON.stringify([key, await readers[await redis.type(key)]?.(redis, key)]));
  redis.disconnect();
  return texts.join("\n");
};

/** Connections, all of Redis and all log lines, as texts. */
export const whatIsLeft = async ({
  kube,
  namespace,
  redis_url,
  dataDir,
}: Pick<LocalProject, "kube" | "namespace" | "redis_url" | "dataDir">): Promise<string[]> => {
  const { items } = await kube.list(authConnectionKind, { namespace });
  const logs: string[] = [];
  // The log of a pod goes with the pod, maybe right now.
  for (const file of await readdir(dataDir, { recursive: true }))
    if (file.endsWith(".log")) logs.push(await readFile(join(dataDir, file), "utf8").catch(() => ""));
  return [JSON.stringify(items), await redisContents(redis_url), logs.join("\n")];
};

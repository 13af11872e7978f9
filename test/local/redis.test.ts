import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis as Client } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { pingRedis, type Redis, startRedis } from "../../src/local/redis.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { eventually } from "../support/eventually.ts";
import { processesOf, processNamed } from "../support/processes.ts";

let dataDir: string;
let redis: Redis;

const start = (): Promise<Redis> =>
  startRedis({ dataDir, programs: locatePrograms(process.env), log: createLogger("silent", "test") });

const ask = async <T>(question: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client(redis.url);
  return question(client).finally(() => client.disconnect());
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-redis-"));
  redis = await start();
});
afterAll(async () => {
  await redis.stop();
  expect(await processesOf(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true, force: true });
});

test("it logs every write and never evicts", async () => {
  const config = await ask((client) => client.config("GET", "append*", "maxmemory-policy", "save"));
  expect(config).toEqual(expect.arrayContaining(["appendonly", "yes", "appendfsync", "everysec", "noeviction"]));
});

test("its password is only in a file of this user, not on the command line, and is required", async () => {
  const { password, port } = new URL(redis.url);
  expect(password.length).toBeGreaterThan(40);
  expect((await stat(join(dataDir, "run/redis.conf"))).mode & 0o777).toBe(0o600);
  expect((await processNamed(dataDir, "redis")).commandLine).not.toContain(password);
  expect(await pingRedis(Number(port), password)).toBe(true);
  expect(await pingRedis(Number(port), "wrong")).toBe(false);
});

test("after a kill -9 it is back with the same URL and its data", async () => {
  await ask((client) => client.set("before", "kill"));
  const killed = await processNamed(dataDir, "redis");
  process.kill(killed.pid, "SIGKILL");
  await eventually("another redis runs", async () => {
    const found = await processNamed(dataDir, "redis").catch(() => undefined);
    return found && found.pid !== killed.pid;
  });
  expect(await ask((client) => client.get("before"))).toBe("kill");
});

test("a restart on the same data directory keeps the data", async () => {
  await ask((client) => client.set("kept", "yes"));
  await redis.stop();
  redis = await start();
  expect(await ask((client) => client.get("kept"))).toBe("yes");
});

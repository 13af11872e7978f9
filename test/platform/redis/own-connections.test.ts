/** The connections of the API to Redis, as Redis lists them. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filledPool } from "../../support/filled-pool.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let stack: LocalProject;
let redis: Redis;
beforeAll(async () => {
  stack = await startProject();
  redis = new Redis(stack.redis_url);
});
afterAll(async () => {
  redis?.disconnect();
  await stack?.[Symbol.asyncDispose]();
});

/** The number in a field of a line of CLIENT LIST. */
const numberIn = (line: string, field: string): number =>
  Number(new RegExp(` ${field}=(\\d+)`).exec(line)?.[1] ?? Number.NaN);

// The client library would drop what comes on other channels once the last pool's channel is left, ten minutes after
// its last caller.
test("the channels of pools have a connection that has no other ones", async () => {
  const { id } = await filledPool(stack.kernel);
  await stack.kernel.browserPools.acquire(id, {});
  const lines = String(await redis.client("LIST"))
    .trim()
    .split("\n");
  const ofPools = lines.filter((line) => numberIn(line, "ssub") > 0);
  expect(ofPools).not.toEqual([]);
  for (const line of ofPools) expect([numberIn(line, "sub"), numberIn(line, "psub")]).toEqual([0, 0]);
});

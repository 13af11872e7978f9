import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createExportCursors } from "../../../src/features/telemetry/export-state.ts";
import { telemetryStateKey } from "../../../src/platform/redis/keys.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

const daySeconds = 86_400;

// TELEMETRY-31
test("a cursor goes with the events that it is beside of, and without them in an hour", async () => {
  const cursors = createExportCursors(parts.redis);
  const [kept, alone, destination] = [newId(), newId(), newId()];
  await parts.redis.hset(telemetryStateKey(kept), "seq", 1);
  await parts.redis.expire(telemetryStateKey(kept), daySeconds);
  for (const session of [kept, alone]) {
    expect(await cursors.get(session, destination)).toBe(0);
    await cursors.set(session, destination, 7);
    expect(await cursors.get(session, destination)).toBe(7);
    expect(await cursors.get(session, newId())).toBe(0);
  }
  expect(await parts.redis.ttl(telemetryStateKey(kept))).toBeGreaterThan(daySeconds - 600);
  expect(await parts.redis.ttl(telemetryStateKey(alone))).toBeLessThanOrEqual(3600);
  expect(await parts.redis.ttl(telemetryStateKey(alone))).toBeGreaterThan(0);
});

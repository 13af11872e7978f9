/** Reservations for sessions that begin now, on a real Redis. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import {
  createSessionRoom,
  reservedMs,
  type SeenRoom,
  type SessionRoom,
} from "../../../src/core/reservations/session-room.ts";
import { reservedSessionsKey } from "../../../src/platform/redis/keys.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let organization: string;
let room: SessionRoom;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  organization = newId();
  room = createSessionRoom(parts.redis, organization);
});

const browser = (projectId = "a", id = newId()) => ({ projectId, id, sessions: 1, kind: "browser" }) as const;
const pool = (sessions: number, projectId = "a") =>
  ({ projectId, id: `${newId()}:9`, sessions, kind: "pool" }) as const;
const seen = (more: Partial<SeenRoom> = {}): SeenRoom => ({
  project: 3,
  countsPools: true,
  organization: 5,
  counted: [],
  ...more,
});
const reserved = (count: number, projectId: string, more: Partial<SeenRoom> = {}): Promise<number> =>
  Promise.all(Array.from({ length: count }, () => room.reserve(browser(projectId), seen(more)))).then(
    (results) => results.filter(Boolean).length,
  );

// LIMIT-21
test("of many at once no more pass than there is room for, in a project and in the organization", async () => {
  expect(await reserved(50, "a")).toBe(3);
  expect(await reserved(50, "b")).toBe(2);
  expect(await reserved(50, "c")).toBe(0);
});

test("what the caller has counted itself does not count twice", async () => {
  const known = Array.from({ length: 3 }, () => browser());
  for (const one of known) expect(await room.reserve(one, seen())).toBe(true);
  expect(await room.reserve(browser(), seen())).toBe(false);
  const counted = known.map(({ id }) => id);
  expect(await room.reserve(browser(), seen({ project: 1, counted }))).toBe(true);
  expect(await room.reserve(browser(), seen({ project: 1, counted }))).toBe(false);
});

test("pools use up the room of a cap, and not that of the default for on-demand browsers", async () => {
  expect(await room.reserve(pool(3), seen())).toBe(true);
  expect(await room.reserve(browser(), seen())).toBe(false);
  expect(await room.reserve(browser(), seen({ countsPools: false }))).toBe(true);
  expect(await room.reserve(pool(1), seen())).toBe(false);
  expect(await room.reserve(pool(4, "b"), seen())).toBe(false);
});

test("a reservation is given back, and ends by itself when nobody does", async () => {
  const [kept, given] = [browser(), browser()];
  expect(await room.reserve(kept, seen({ project: 2 }))).toBe(true);
  expect(await room.reserve(given, seen({ project: 2 }))).toBe(true);
  await room.free(given);
  expect(await room.reserve(given, seen({ project: 2 }))).toBe(true);
  const key = reservedSessionsKey(organization);
  expect(await parts.redis.pttl(key)).toBeGreaterThan(reservedMs / 2);
  // As if their time were over.
  for (const member of await parts.redis.zrange(key, "0", "-1")) await parts.redis.zadd(key, "1", member);
  expect(await reserved(5, "a", { project: 2 })).toBe(2);
});

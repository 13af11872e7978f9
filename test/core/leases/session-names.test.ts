import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createNamesComplete } from "../../../src/core/leases/names-in-use.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createSessionNames, type SessionNames } from "../../../src/core/reservations/session-names.ts";
import { createIdempotentAnswers } from "../../../src/platform/redis/idempotent-answers.ts";
import { idempotencyKey, sessionNamesKey } from "../../../src/platform/redis/keys.ts";
import { type LeaseParts, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let names: SessionNames;
let project: string;
let poolUid: string;

beforeAll(async () => {
  parts = await startLeaseParts();
  names = createSessionNames(parts.redis, parts.store);
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(() => {
  project = newId();
  poolUid = newId();
});

/** A session that holds a browser. */
const activeSession = async () => {
  const session = newId();
  await parts.addBrowser(poolUid);
  await parts.store.take(poolUid, { session, channel: "none", request: "{}" });
  return { poolUid, session };
};

describe("the name of a session", () => {
  // LEASE-6
  test("belongs to one active session of a project", async () => {
    const [first, second] = [await activeSession(), await activeSession()];
    expect(await names.reserve(project, "n", first)).toBe(true);
    expect(await names.reserve(project, "n", first)).toBe(true);
    expect(await names.reserve(project, "n", second)).toBe(false);
    expect(await names.reserve(newId(), "n", second)).toBe(true);
    expect(await names.find(project, "n")).toEqual(first);
  });

  test("is freed by its owner only", async () => {
    const [first, second] = [await activeSession(), await activeSession()];
    await names.reserve(project, "n", first);
    await names.free(project, "n", second);
    expect(await names.find(project, "n")).toEqual(first);
    await names.free(project, "n", first);
    expect(await names.find(project, "n")).toBeUndefined();
  });

  test("is free again when its session ended without freeing it, and only one of those that want it gets it", async () => {
    const first = await activeSession();
    await names.reserve(project, "n", first);
    await parts.store.release(poolUid, first.session, "retired", "browser_crashed");
    const rivals = [await activeSession(), await activeSession(), await activeSession()];
    const won = await Promise.all(rivals.map((rival) => names.reserve(project, "n", rival)));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test("is kept for a session that still waits for its browser", async () => {
    const session = newId();
    await parts.store.take(poolUid, { session, channel: "none", request: "{}" });
    await names.reserve(project, "n", { poolUid, session });
    expect(await names.reserve(project, "n", { poolUid, session: newId() })).toBe(false);
  });
});

test("a check of names that are all there leaves nothing behind that does not expire, and holds once it is confirmed", async () => {
  const whole = createNamesComplete(parts.redis);
  const [first, second] = [await whole.check(project), await whole.check(project)];
  expect(await parts.redis.ttl(sessionNamesKey(project))).toBeGreaterThan(0);
  // A later check has taken its place.
  if (!first.isComplete) await first.confirm();
  expect((await whole.check(project)).isComplete).toBe(false);
  if (!second.isComplete) await second.confirm();
  const last = await whole.check(project);
  expect(last.isComplete).toBe(false);
  if (!last.isComplete) await last.confirm();
  expect(await whole.check(project)).toEqual({ isComplete: true });
  expect(await parts.redis.hkeys(sessionNamesKey(project))).toEqual(["!whole"]);
});

describe("the idempotent answer of a repeated request", () => {
  const answers = () => createIdempotentAnswers(parts.redis);
  const begin = async (digest: string): Promise<string> => {
    const begun = await answers().begin(digest, "body");
    if (begun.kind !== "fresh") throw new Error(`not fresh but ${begun.kind}`);
    return begun.mark;
  };

  // HTTP-21, HTTP-22
  test("is begun once, and replayed when it is complete", async () => {
    const digest = newId();
    const mark = await begin(digest);
    expect(await answers().begin(digest, "body")).toEqual({ kind: "running" });
    await answers().finish(digest, mark, { bodyDigest: "body", sealed: "sealed", holders: [] });
    expect(await answers().begin(digest, "body")).toEqual({ kind: "replay", sealed: "sealed" });
    expect(await answers().begin(digest, "another")).toEqual({ kind: "otherBody" });
    expect(await parts.redis.ttl(idempotencyKey(digest))).toBeGreaterThan(23 * 3600);
  });

  test("is free again when it was dropped, and soon after its replica died", async () => {
    const digest = newId();
    const mark = await begin(digest);
    const ttl = await parts.redis.ttl(idempotencyKey(digest));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(30);
    await answers().forget(digest, mark);
    await begin(digest);
  });

  test("is kept when its run finishes after Redis has lost the run's mark", async () => {
    const digest = newId();
    const lost = await begin(digest);
    await parts.redis.del(idempotencyKey(digest));
    const mark = await begin(digest);
    await answers().renew(digest, lost);
    await answers().forget(digest, lost);
    expect(await answers().begin(digest, "body")).toEqual({ kind: "running" });
    await answers().finish(digest, mark, { bodyDigest: "body", sealed: "sealed", holders: [] });
    await answers().finish(digest, lost, { bodyDigest: "body", sealed: "another", holders: [] });
    await answers().forget(digest, lost);
    expect(await answers().begin(digest, "body")).toEqual({ kind: "replay", sealed: "sealed" });
  });

  test("is running again when its run renews the mark that Redis has lost", async () => {
    const digest = newId();
    const mark = await begin(digest);
    await parts.redis.del(idempotencyKey(digest));
    await answers().renew(digest, mark);
    expect(await answers().begin(digest, "body")).toEqual({ kind: "running" });
  });
});

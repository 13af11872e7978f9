/** Everything that callers do with leases, for tests that run it on their own Redis. */

import { expect } from "vitest";
import { type Acquired, acquireLease } from "../../src/core/leases/acquire-lease.ts";
import type { Grants } from "../../src/core/leases/grants.ts";
import { createNamesInUse } from "../../src/core/leases/names-in-use.ts";
import { releaseLease } from "../../src/core/leases/release-lease.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { createSessionNames } from "../../src/core/reservations/session-names.ts";
import { createIdempotentAnswers } from "../../src/platform/redis/idempotent-answers.ts";
import { eventually } from "./eventually.ts";
import { type LeaseParts, type SmallAgent, silent, startLeaseParts, startSmallAgent } from "./lease-parts.ts";

export type LeaseFlow = {
  parts: LeaseParts;
  grants: Grants;
  /** Adds an idle browser with its own agent. */
  addBrowser(poolUid: string): Promise<string>;
  acquire(poolUid: string, session: string): Promise<Acquired>;
  release(poolUid: string, session: string): Promise<unknown>;
  whenWaiting(poolUid: string, count: number): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** `checkMs`: interval of the check of waiting callers; by default longer than a test. */
export const startLeaseFlow = async (url: string, { checkMs = 600_000 } = {}): Promise<LeaseFlow> => {
  const parts = await startLeaseParts(url);
  const grants = await parts.replica({ checkMs });
  const agents: SmallAgent[] = [];
  return {
    parts,
    grants,
    async addBrowser(poolUid) {
      const agent = await startSmallAgent();
      agents.push(agent);
      return parts.addBrowser(poolUid, agent.address);
    },
    acquire(poolUid, session) {
      const request = {
        timeout_seconds: 60,
        max_session_seconds: 3600,
        pool: { id: "pool", uid: poolUid },
        project: "project",
      };
      const wanted = { poolUid, session, request, waitMs: 30_000 };
      return acquireLease(wanted, { ...parts, grants, log: silent }, new AbortController().signal);
    },
    release: (poolUid, session) => releaseLease({ poolUid, session, reuse: "reset", reason: "released" }, parts),
    whenWaiting: (poolUid, count) =>
      eventually(`${count} wait`, async () => (await parts.store.snapshot(poolUid)).waiting === count),
    async [Symbol.asyncDispose]() {
      await parts[Symbol.asyncDispose]();
      for (const agent of agents) await agent[Symbol.asyncDispose]();
    },
  };
};

/**
 * Gets a browser at once, by message after a wait, after a refused lease and during a drain; uses names and idempotent
 * answers.
 */
export const runLeaseFlow = async (flow: LeaseFlow, poolUid: string = newId()): Promise<void> => {
  const { parts, acquire, release, whenWaiting } = flow;
  const browser = await flow.addBrowser(poolUid);
  expect(await acquire(poolUid, "first")).toMatchObject({ kind: "held", lease: { browser } });
  const second = acquire(poolUid, "second");
  await whenWaiting(poolUid, 1);
  expect(await release(poolUid, "first")).toMatchObject({ session: "first" });
  expect(await second).toMatchObject({ kind: "held", lease: { browser, seq: 2 } });
  expect(await release(poolUid, "first")).toBeUndefined();
  const third = acquire(poolUid, "third");
  await whenWaiting(poolUid, 1);
  await parts.store.drain(poolUid, { evenIfLeased: true });
  expect(await third).toEqual({ kind: "draining" });
  await parts.store.undrain(poolUid);
  expect(await release(poolUid, "second")).toMatchObject({ session: "second" });
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 1 });

  const [names, owner] = [createSessionNames(parts.redis, parts.store), { poolUid, session: "second" }];
  expect(await names.reserve(poolUid, "n", owner)).toBe(true);
  expect(await names.page(poolUid)).toEqual({ reserved: [{ name: "n", owner }], next: undefined });
  expect(await createNamesInUse(parts.redis)(poolUid, [{ session: "second", name: "n" }])).toMatchObject({
    inUse: [false],
  });
  await names.free(poolUid, "n", owner);
  const answers = createIdempotentAnswers(parts.redis);
  const begun = await answers.begin(poolUid, "body");
  expect(await answers.reserve([{ id: poolUid, mostBytes: 1e6 }])).toBe(true);
  const mark = begun.kind === "fresh" ? begun.mark : "";
  expect(mark).not.toBe("");
  await answers.renew(poolUid, mark);
  await answers.finish(poolUid, mark, {
    bodyDigest: "body",
    sealed: "sealed",
    holders: [{ id: poolUid, mostBytes: 1e6 }],
  });
  expect(await answers.begin(poolUid, "body")).toEqual({ kind: "replay", sealed: "sealed" });
  await answers.forget(poolUid, mark);
  await parts.store.drop(poolUid);
};

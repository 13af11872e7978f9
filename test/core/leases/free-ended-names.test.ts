/** The operator's sweep over the names of sessions that ended without freeing them, on a real Redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createNamesInUse } from "../../../src/core/leases/names-in-use.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createNameSweep, type FreeNamesDeps } from "../../../src/core/pools/ended/free-ended-names.ts";
import { createSessionNames, type NameOwner, type SessionNames } from "../../../src/core/reservations/session-names.ts";
import { projectLabel } from "../../../src/platform/kinds/identity.ts";
import { sessionNamesKey } from "../../../src/platform/redis/keys.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";

let parts: LeaseParts;
let names: SessionNames;
let project: string;
let poolUid: string;
/** The pools that exist in Kubernetes. */
let pools: Set<string>;

beforeAll(async () => {
  parts = await startLeaseParts();
  names = createSessionNames(parts.redis, parts.store);
});
afterAll(() => parts[Symbol.asyncDispose]());
beforeEach(async () => {
  project = newId();
  poolUid = newId();
  pools = new Set([poolUid]);
  expect(await parts.repairs.establish(poolUid, 1)).toBe(true);
});

/** A sweep whose cluster has this project and these pools. */
const sweepWith = (more: Partial<FreeNamesDeps> = {}, most?: number): (() => Promise<number>) => {
  const metadata = { name: project, labels: { [projectLabel]: project } };
  const kube = { list: async () => ({ items: [{ metadata }] }) } as unknown as FreeNamesDeps["kube"];
  const acceptedSessions = { uids: () => pools, synced: async () => undefined };
  const sweep = createNameSweep(
    { kube, namesInUse: createNamesInUse(parts.redis), names, acceptedSessions, log: silent, check() {}, ...more },
    most,
  );
  return () => sweep(new AbortController().signal);
};

const newOwner = (): NameOwner => ({ poolUid, session: newId() });
const reserve = async (name: string, owner = newOwner()): Promise<NameOwner> => {
  expect(await names.reserve(project, name, owner)).toBe(true);
  return owner;
};
const take = ({ session }: NameOwner, name: string) =>
  parts.store.take(poolUid, { session, channel: "none", request: JSON.stringify({ name }) });
/** A session that holds a browser. */
const active = async (name: string): Promise<NameOwner> => {
  const owner = await reserve(name);
  await parts.addBrowser(poolUid);
  expect((await take(owner, name)).kind).toBe("granted");
  return owner;
};
const reserved = async (): Promise<string[]> => (await parts.redis.hkeys(sessionNamesKey(project))).toSorted();

// LEASE-6, LEASE-56
describe("a name goes in the second sweep", () => {
  const leavesIn = async (sweeps: number): Promise<void> => {
    const sweep = sweepWith();
    for (let n = 1; n < sweeps; n++) expect(await sweep()).toBe(0);
    expect(await reserved()).toEqual(["n"]);
    expect(await sweep()).toBe(1);
    expect(await reserved()).toEqual([]);
  };

  test("after its session ended, when nobody freed it", async () => {
    const { session } = await active("n");
    await parts.store.release(poolUid, session, "retired", "timeout");
    await leavesIn(2);
  });

  test("after its replica died between reserving it and taking a browser", async () => {
    await reserve("n");
    await leavesIn(2);
  });

  test("after its pool is deleted, of which Redis then knows nothing", async () => {
    await active("n");
    await parts.store.drop(poolUid);
    pools.clear();
    await leavesIn(2);
  });

  test("after its session has got another name", async () => {
    const owner = await active("now");
    await reserve("n", owner);
    const sweep = sweepWith();
    await sweep();
    expect(await reserved()).toEqual(["n", "now"]);
    expect(await sweep()).toBe(1);
    expect(await reserved()).toEqual(["now"]);
  });
});

// LEASE-56
describe("a name stays", () => {
  const staysAfterSweeps = async (between: () => Promise<unknown> = async () => undefined): Promise<void> => {
    const sweep = sweepWith();
    await sweep();
    await between();
    for (let n = 0; n < 3; n++) expect(await sweep()).toBe(0);
    expect(await reserved()).toEqual(["n"]);
  };

  test("while its session holds a browser", async () => {
    await active("n");
    await staysAfterSweeps();
  });

  test("while its caller waits", async () => {
    const owner = await reserve("n");
    expect((await take(owner, "n")).kind).toBe("waiting");
    await staysAfterSweeps();
  });

  test("when its session begins after a sweep", async () => {
    const owner = await reserve("n");
    await staysAfterSweeps(() => take(owner, "n"));
  });

  test("while its pool is being recovered, and goes after that", async () => {
    await reserve("n");
    await parts.repairs.establish(poolUid, 2);
    await staysAfterSweeps();
    await parts.repairs.recovered(poolUid, 2);
    const sweep = sweepWith();
    await sweep();
    expect(await sweep()).toBe(1);
  });

  test("while its pool exists and Redis knows nothing about it", async () => {
    await active("n");
    await parts.store.drop(poolUid);
    await staysAfterSweeps();
  });

  test("when another session reserves it after a sweep: it is that one's", async () => {
    await reserve("n");
    const sweep = sweepWith();
    await sweep();
    await reserve("n");
    expect(await sweep()).toBe(0);
    expect(await reserved()).toEqual(["n"]);
  });

  test("while this replica must not write", async () => {
    await reserve("n");
    const sweep = sweepWith({
      check() {
        throw new Error("another replica leads");
      },
    });
    await sweep();
    await expect(sweep()).rejects.toThrow("another replica leads");
    expect(await reserved()).toEqual(["n"]);
  });
});

// LEASE-56
test("after two sweeps there are only the names of active sessions, however many the others were", async () => {
  const alive = Array.from({ length: 150 }, (_, n) => `alive-${n}`).toSorted();
  for (const name of alive) await take(await reserve(name), name);
  await Promise.all(Array.from({ length: 2000 }, (_, n) => reserve(`dead-${n}`)));
  const sweep = sweepWith();
  await sweep();
  expect(await sweep()).toBe(2000);
  expect(await reserved()).toEqual(alive);
});

test("a sweep notes only so many names, and later ones go on", async () => {
  await Promise.all(Array.from({ length: 300 }, (_, n) => reserve(`dead-${n}`)));
  const sweep = sweepWith({}, 200);
  await sweep();
  expect(await sweep()).toBe(200);
  expect(await sweep()).toBe(100);
});

// LEASE-56
test("the names of a project go after a week in which it reserved none: its namespace may be gone", async () => {
  const dayS = 24 * 3600;
  await reserve("n");
  await parts.redis.expire(sessionNamesKey(project), dayS);
  await reserve("m");
  // More than the longest wait and the longest session together.
  expect(await parts.redis.ttl(sessionNamesKey(project))).toBeGreaterThan(4 * dayS);
  expect(await parts.redis.ttl(sessionNamesKey(project))).toBeLessThanOrEqual(7 * dayS);
});

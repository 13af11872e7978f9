import { generateKeyPairSync } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ServiceDeps } from "../../../src/cmd/service-deps.ts";
import { acquireRoute } from "../../../src/core/api/browser-pools.ts";
import { readConfig } from "../../../src/core/config/config.ts";
import { createApiMetrics } from "../../../src/core/metrics/api-metrics.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { createCallerLimits } from "../../../src/core/projects/caller-limits.ts";
import { createSessionNames } from "../../../src/core/reservations/session-names.ts";
import { acquireBrowser } from "../../../src/core/sessions/acquire-browser.ts";
import { createSessionProfile } from "../../../src/features/profiles/session-profile.ts";
import { unavailable } from "../../../src/platform/base/errors.ts";
import type { Collected } from "../../../src/platform/redis/collect-claims.ts";
import { eventually } from "../../support/eventually.ts";
import { type LeaseParts, silent, startLeaseParts, startSmallAgent } from "../../support/lease-parts.ts";
import { aPool } from "../../support/observed-pool.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

/** A pool without browsers, and what its callers need. */
const setUp = async (poolUid: string, store: Partial<ServiceDeps["store"]>, projectId = newId()) => {
  const pool = aPool({}, undefined, { uid: poolUid });
  const names = createSessionNames(parts.redis, parts.store);
  const totals = () => ({ size: 0, available: 0, acquired: 0, starting: 0, waiting: 0 });
  const metrics = createApiMetrics(new Registry(), totals);
  const config = readConfig();
  const callerLimits = createCallerLimits(config.callers, metrics);
  const collected: Collected[] = [];
  const projects = { find: () => ({ namespace: "project" }) as never };
  const profiles = {
    find: ({ name }: { name?: string | undefined }) =>
      ({
        metadata: { name: newId(), namespace: "project", creationTimestamp: "2026-01-01T00:00:00Z" },
        spec: { name },
      }) as never,
  };
  const deps = {
    ...parts,
    store: { ...parts.store, ...store },
    grants: await parts.replica(),
    names,
    pools: { get: () => pool, list: () => [pool], listen: () => () => undefined },
    projects,
    sessionProfile: createSessionProfile({ kube: parts as never, profiles, projects }),
    metrics,
    config,
    callerLimits,
    signingKey: generateKeyPairSync("ed25519").privateKey,
    telemetry: { collector: { collect: (session: Collected) => collected.push(session) } },
    log: silent,
  } as unknown as ServiceDeps;
  const project = { id: projectId, namespace: "project" } as never;
  const baseUrl = "http://127.0.0.1";
  const { signal } = new AbortController();
  const acquire = (request: { name?: string; tags?: Record<string, string> }) =>
    acquireBrowser({ idOrName: "pool", request, project, keyId: "key", baseUrl }, deps, signal);
  /** The same by the HTTP API. */
  const answer = (body: { name?: string }) =>
    acquireRoute.handle({
      ...{ params: { id_or_name: "pool" }, body, principal: { keyId: "key" }, project, baseUrl, deps, signal },
    } as never);
  /** How many more callers of this one may wait. */
  const placesToWait = (): number => {
    const taken: (() => void)[] = [];
    for (;;) {
      const leave = callerLimits.enterQueue({ keyId: "key", projectId });
      if (!leave) break;
      taken.push(leave);
    }
    for (const leave of taken) leave();
    return taken.length;
  };
  return { acquire, answer, placesToWait, collected, names, project: project as { id: string } };
};

test("when the caller can't be answered, its browser goes back to the pool and the session's name is free", async () => {
  const poolUid = newId();
  await using agent = await startSmallAgent();
  await parts.addBrowser(poolUid, agent.address, newId());
  // The last read for the answer: Redis fails between the lease and this read.
  const { acquire, names, project } = await setUp(poolUid, { config: () => Promise.reject(unavailable("Redis")) });
  await expect(acquire({ name: "n" })).rejects.toMatchObject({ code: "unavailable" });
  await eventually("the browser is idle", async () => (await parts.store.counts(poolUid)).available === 1);
  expect(agent.holder()).toBeUndefined();
  expect(await names.find(project.id, "n")).toBeUndefined();
  expect(await parts.store.counts(poolUid)).toEqual({ acquired: 0, available: 1 });
});

// LEASE-56
test("when the answer did not reach the caller, its browser goes back to the pool and the session's name is free", async () => {
  const poolUid = newId();
  await using agent = await startSmallAgent();
  await parts.addBrowser(poolUid, agent.address, newId());
  const { answer, names, project } = await setUp(poolUid, { config: async () => "{}" });
  const { undelivered } = await answer({ name: "n" });
  expect(await names.find(project.id, "n")).toMatchObject({ poolUid });
  undelivered?.();
  await eventually("the browser is idle", async () => (await parts.store.counts(poolUid)).available === 1);
  await eventually("the name is free", async () => (await names.find(project.id, "n")) === undefined);
});

// LIMIT-14
test.each([
  ["has got a browser", async () => "{}"],
  ["has failed", () => Promise.reject(unavailable("Redis"))],
])("an acquire that %s does not count as a waiting one any more", async (_what, config) => {
  const poolUid = newId();
  await using agent = await startSmallAgent();
  await parts.addBrowser(poolUid, agent.address, newId());
  const { acquire, placesToWait } = await setUp(poolUid, { config });
  const places = placesToWait();
  await acquire({}).catch((error) => expect(error).toMatchObject({ code: "unavailable" }));
  expect(placesToWait()).toBe(places);
});

test("the answer describes the browser that was bound, not one that refused", async () => {
  const poolUid = newId();
  await using refusing = await startSmallAgent("refuse");
  await using healthy = await startSmallAgent();
  const configs: Record<string, object> = { [newId()]: { kiosk_mode: true }, [newId()]: { kiosk_mode: false } };
  const [refused = "", bound = ""] = Object.keys(configs);
  await parts.addBrowser(poolUid, refusing.address, refused);
  await parts.addBrowser(poolUid, healthy.address, bound);
  const { acquire } = await setUp(poolUid, { config: async (_pool, hash) => JSON.stringify(configs[hash]) });
  const handedOut = await acquire({});
  expect(handedOut?.session).toMatchObject({ session_id: healthy.holder(), kiosk_mode: false });
});

// LEASE-11
test("the answer has the fields that the request or the browser's configuration sets", async () => {
  const poolUid = newId();
  await using agent = await startSmallAgent();
  await parts.addBrowser(poolUid, agent.address, newId());
  const set = {
    start_url: "https://a.test",
    proxy_id: "p",
    profile: { name: "work" },
    chrome_policy: { PrintingEnabled: false },
    telemetry: { enabled: true },
  };
  const { acquire, collected } = await setUp(poolUid, { config: async () => JSON.stringify(set) });
  const handedOut = await acquire({ name: "n", tags: { team: "a" } });
  expect(handedOut?.session).toMatchObject({ ...set, name: "n", tags: { team: "a" } });
  expect(collected).toEqual([{ poolUid, session: handedOut?.session.session_id }]);
});

// LEASE-6
test("of callers who ask at once for sessions of one name, at two replicas, one gets a browser and no other keeps one", async () => {
  const poolUid = newId();
  await using agents = new AsyncDisposableStack();
  for (let browser = 0; browser < 4; browser++) {
    const agent = agents.use(await startSmallAgent());
    await parts.addBrowser(poolUid, agent.address, newId());
  }
  const projectId = newId();
  const replica = () => setUp(poolUid, { config: async () => "{}" }, projectId);
  const replicas = [await replica(), await replica()];
  const answers = await Promise.all(
    [0, 1, 0, 1].map((index) =>
      replicas[index]?.acquire({ name: "n" }).then(
        () => "held",
        (error) => error.code,
      ),
    ),
  );
  expect(answers.toSorted()).toEqual(["held", "name_taken", "name_taken", "name_taken"]);
  const given = { acquired: 1, available: 3 };
  await eventually("the others are idle", async () => isDeepStrictEqual(await parts.store.counts(poolUid), given));
});

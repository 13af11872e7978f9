/** Sessions that want one name at the same time, whichever of their calls comes first. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "../../../src/core/model/browsers/browser.ts";
import type { Session } from "../../../src/core/model/sessions/session-wire.ts";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type HandOverDeps, handOver } from "../../../src/core/pools/on-demand/reconcile-on-demand.ts";
import type { Project } from "../../../src/core/projects/projects.ts";
import { createSessionNames } from "../../../src/core/reservations/session-names.ts";
import { startSession } from "../../../src/core/sessions/start-session.ts";
import { projectLabel } from "../../../src/platform/kinds/identity.ts";
import { createInTurn, type InTurn } from "../../support/in-turn.ts";
import { type LeaseParts, silent, startLeaseParts } from "../../support/lease-parts.ts";
import { storedMeta } from "../../support/stored-meta.ts";

let parts: LeaseParts;
beforeAll(async () => {
  parts = await startLeaseParts();
});
afterAll(() => parts[Symbol.asyncDispose]());

/** Callers of one pool without browsers: a session that waits is alive, too. */
const startCallers = ({ begin, turn }: InTurn) => {
  const { store, redis } = parts;
  const [poolUid, project] = [newId(), { id: newId() } as Project];
  const isAlive: typeof store.isAlive = (...asked) => turn().then(() => store.isAlive(...asked));
  const reserved = createSessionNames(redis, { isAlive });
  const names: typeof reserved = {
    ...reserved,
    reserve: (...asked) => turn().then(() => reserved.reserve(...asked)),
    free: (...asked) => turn().then(() => reserved.free(...asked)),
  };
  const leaveQueue = async (session: string): Promise<void> => {
    await turn();
    await store.cancel(poolUid, session);
  };
  const abandonedSessions = {
    add: (_: string, session: string) => begin(() => leaveQueue(session)),
    drain: async () => undefined,
  };
  const having = new Set<string>();
  const outcomes: string[] = [];
  const call = async (session: string): Promise<void> => {
    const owner = { poolUid, session };
    const acquire = async (): Promise<Session> => {
      await turn();
      await store.take(poolUid, { session, channel: "none", request: JSON.stringify({ name: "n" }) });
      return { session_id: session } as Session;
    };
    const config = { keptFiles: { seconds: 0, bytesPerProject: 0 } };
    const deps = { names, abandonedSessions, config, telemetry: {} as never, keptFiles: {} as never };
    const handedOut = await startSession(
      { owner, name: "n", project },
      acquire,
      deps,
      new AbortController().signal,
    ).catch((error) => void outcomes.push(error.code));
    if (!handedOut) return;
    having.add(session);
    outcomes.push(having.size === 1 ? "begun" : "begun beside another");
    await turn();
    having.delete(session);
    await leaveQueue(session);
    await names.free(project.id, "n", owner);
  };
  const left = async () => [await names.find(project.id, "n"), (await store.snapshot(poolUid)).waiting];
  return { call, outcomes, left };
};

// LEASE-6, LEASE-56
test("one of them at a time begins, at least one does, and none leaves its name or its place in the queue", async () => {
  const anyOrder = fc.array(fc.nat({ max: 11 }), { minLength: 30, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(anyOrder, fc.integer({ min: 2, max: 4 }), async (choices, count) => {
      const inTurn = createInTurn(choices);
      const { call, outcomes, left } = startCallers(inTurn);
      for (let n = 0; n < count; n++) inTurn.begin(() => call(`s${n}`));
      await inTurn.ended();
      expect(outcomes).toHaveLength(count);
      expect(new Set(outcomes).difference(new Set(["begun", "name_taken"]))).toEqual(new Set());
      expect(outcomes).toContain("begun");
      expect(await left()).toEqual([undefined, 0]);
    }),
    { numRuns: 60 },
  );
});

// LEASE-6
test("a session from YAML whose name another one has got before its take does not begin with it", async () => {
  const { store, redis } = parts;
  const names = createSessionNames(redis, store);
  const [poolUid, project] = [newId(), newId()];
  await parts.addBrowser(poolUid);
  const other = { poolUid: newId(), session: newId() };
  await store.take(other.poolUid, { session: other.session, channel: "none", request: "{}" });
  const bound: unknown[] = [];
  const deps: HandOverDeps = {
    kube: { get: async () => ({ metadata: { labels: { [projectLabel]: project } } }) } as never,
    store: {
      ...store,
      async take(...taking) {
        expect(await names.reserve(project, "n", other)).toBe(true);
        return store.take(...taking);
      },
    },
    agents: { bind: async (lease) => void bound.push(lease) as never },
    names,
    reportOf: async () => undefined,
    keepsFiles: false,
    sessionSeconds: 3600,
    log: silent,
  };
  const metadata = { ...storedMeta(newId()), uid: poolUid };
  const browser: Browser = {
    metadata,
    spec: { name: "n", timeoutSeconds: 60, headless: true, stealth: false, kioskMode: false, gpu: false, vaults: [] },
  } as never;
  expect([await handOver(browser, deps), bound]).toEqual([false, []]);
  expect(await names.find(project, "n")).toEqual(other);
  expect(await store.lease(poolUid, metadata.name)).toBeUndefined();
});

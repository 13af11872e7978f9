/** Pools whose rounds are tried with faults: how they are made, worked on and looked at. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { poolView } from "../../src/core/pools/pool-source.ts";
import { reconcilePool } from "../../src/core/pools/reconcile.ts";
import { keyOf, type Pod } from "../../src/platform/kube/objects.ts";
import { pods as podType } from "../../src/platform/kube/resource-type.ts";
import { agentKeys, startSmallAgent } from "../support/lease-parts.ts";
import {
  becomeReady,
  type PoolParts,
  type PoolSetting,
  podsAndKeys,
  registerIdle,
  startPoolSetting,
} from "./pool-rounds.ts";
import { untilRest } from "./rounds.ts";

/** Of the file's tests, once `poolSetting` has begun it. */
export let setting: PoolSetting<BrowserPool>;
let agents = new AsyncDisposableStack();

/** Has the tests of a file work on pools of their own setting. */
export const poolSetting = (): void => {
  beforeAll(async () => {
    setting = await startPoolSetting({ view: poolView, reconcile: reconcilePool });
  });
  afterAll(() => setting?.[Symbol.asyncDispose]());
  afterEach(async () => {
    await agents.disposeAsync();
    agents = new AsyncDisposableStack();
  });
};

/** Two browsers, the second one two minutes after the first. */
const slow = { size: 2, fillRatePerMinute: 25, headless: true };
export const quick = { fillRatePerMinute: 6000 };

type Made = { pool: BrowserPool };

export const make = async (spec: object = slow): Promise<Made> => {
  const metadata = { name: newId(), namespace: setting.namespace };
  const pool = await setting.kube.create(browserPoolKind, { metadata, spec: spec as BrowserPool["spec"] });
  await setting.version(pool);
  return { pool };
};

const rounds = ({ pool }: Made, parts?: PoolParts) => ({
  round: () => setting.replica().round(keyOf(pool.metadata), parts),
  version: () => setting.version(pool),
  restMs: 30_000,
  pass: (ms: number) => setting.replica().pass(ms),
});

/** So many rounds; the first that fails ends them. */
export const work = async (made: Made, parts: PoolParts, count = 1): Promise<void> => {
  const { round, version } = rounds(made, parts);
  for (let done = 0; done < count; done++) {
    await version();
    await round();
  }
};

/** Rounds without faults until the pool rests. A dead operator has a successor. */
export const rest = async (made: Made, kind?: string): Promise<void> => {
  if (kind === "death") await setting.replace();
  await untilRest(rounds(made), { before: "", ended: { result: undefined } });
};

export const current = ({ pool }: Made) => setting.kube.get(browserPoolKind, pool.metadata);
export const change = async (made: Made, spec: object): Promise<void> => {
  await setting.kube.patch(browserPoolKind, made.pool.metadata, { spec });
  await setting.version(made.pool);
};
export const ever = ({ pool }: Made): Pod[] =>
  setting.pods.ever().filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === pool.metadata.uid));
export const leases = ({ pool }: Made) => setting.parts.store.snapshot(pool.metadata.uid);
export const alive = async (made: Made): Promise<Pod[]> =>
  (await setting.kube.list(podType, { namespace: setting.namespace })).items.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === made.pool.metadata.uid),
  );

/** So many browsers, each with its key, of so many that there ever were; nothing is awaited any more. */
export const has = async (made: Made, count: number, everCount = count): Promise<void> => {
  const { pods, keys } = await podsAndKeys(setting, made.pool.metadata.uid);
  expect([pods.length, ever(made).length, setting.replica().pending(made.pool.metadata.uid)]).toEqual([
    count,
    everCount,
    0,
  ]);
  expect(keys).toEqual(pods);
};

/** A pool whose browsers start; from now on it fills slowly. */
export const starting = async (size = 2): Promise<Made> => {
  const made = await make({ ...slow, ...quick, size });
  await rest(made);
  expect(ever(made)).toHaveLength(size);
  await change(made, { fillRatePerMinute: slow.fillRatePerMinute });
  return made;
};

/** A pool whose only browser is idle. */
export const idle = async (): Promise<Made> => {
  const made = await starting(1);
  for (const pod of await alive(made)) {
    const agent = agents.use(await startSmallAgent("ok", agentKeys.keyOf(pod.metadata.name)));
    await registerIdle(setting, pod, agent.address);
    await becomeReady(setting.kube, pod);
  }
  await rest(made);
  expect((await current(made))?.status).toMatchObject({ available: 1, starting: 0 });
  return made;
};

/** The browser's process ends with these words. */
export const end = (pod: Pod, said: { reason: string; message: string }): Promise<Pod> => {
  const terminated = { exitCode: 1, message: JSON.stringify(said) };
  const containerStatuses = [
    { name: "agent", state: { terminated }, image: "x", imageID: "", ready: false, restartCount: 0 },
  ];
  return setting.kube.patch(
    podType,
    pod.metadata,
    { status: { phase: "Failed", containerStatuses } },
    { subresource: "status" },
  );
};

/** A session of the pool; the name of the browser's pod. */
export const take = async (made: Made): Promise<{ session: string; pod: string }> => {
  const session = newId();
  const { uid, name } = made.pool.metadata;
  const request = {
    project: setting.projectId,
    name: session,
    timeout_seconds: 60,
    max_session_seconds: 3600,
    pool: { id: name, uid },
  };
  await setting.parts.names.reserve(setting.projectId, session, { poolUid: uid, session });
  const taken = await setting.parts.store.take(uid, { session, channel: "none", request: JSON.stringify(request) });
  if (taken.kind !== "granted") throw new Error(`the session is ${taken.kind}`);
  return { session, pod: taken.lease.pod };
};

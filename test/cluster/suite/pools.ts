/** Pools of the suite, and the pods behind their browsers. */

import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, projectNamespace } from "../lane.ts";
import { until } from "./until.ts";

export type Session = { session_id: string; cdp_ws_url: string };

export type TestPool = AsyncDisposable & {
  name: string;
  /** The pods of its browsers, those that end left out. */
  pods(): Promise<Pod[]>;
  /** Resolves when so many browsers are idle. */
  whenAvailable(count: number, limitMs?: number): Promise<void>;
  acquire(): Promise<Session>;
  release(session: Session): Promise<void>;
};

/** A pool of browsers that are all up. Disposing of it ends its sessions and its browsers. */
export const fullPool = async (
  lane: Lane,
  name: string,
  size: number,
  { headless = true }: { headless?: boolean } = {},
): Promise<TestPool> => {
  const { kernel } = lane.stack;
  await kernel.browserPools.create({ name, size, headless, fill_rate_per_minute: 6000 });
  const uidOf = async (): Promise<string> => {
    const pool = await kernel.browserPools.retrieve(name);
    const found = await lane.kube.get(browserPoolKind, { namespace: projectNamespace, name: pool.id });
    return found?.metadata.uid ?? "";
  };
  const uid = await uidOf();
  const pool: TestPool = {
    name,
    async pods() {
      const selection = { namespace: projectNamespace, labelSelector: `browserpool.dev/pool=${uid}` };
      return (await lane.kube.list(pods, selection)).items.filter(({ metadata }) => !metadata.deletionTimestamp);
    },
    async whenAvailable(count, limitMs = 120_000) {
      const { signal } = lane;
      const isSo = async () => (await kernel.browserPools.retrieve(name)).available_count === count;
      await until(`${count} browsers of ${name} are available`, isSo, { signal, limitMs });
    },
    async acquire() {
      const session = await kernel.browserPools.acquire(name, { acquire_timeout_seconds: 60 });
      if (!session) throw new Error(`no browser of ${name}`);
      return session;
    },
    release: async ({ session_id }) => {
      await kernel.browserPools.release(name, { session_id });
    },
    async [Symbol.asyncDispose]() {
      await kernel.browserPools.delete(name, { force: true });
      const isGone = async () => (await pool.pods()).length === 0;
      await until(`the browsers of ${name} are gone`, isGone, { signal: lane.signal });
    },
  };
  await using unfinished = new AsyncDisposableStack();
  unfinished.use(pool);
  await pool.whenAvailable(size);
  unfinished.move();
  return pool;
};

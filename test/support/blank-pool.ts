import { type BrowserPool, type BrowserPoolSpec, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { eventually } from "./eventually.ts";

export type BlankPool = {
  name: string;
  read(): Promise<BrowserPool>;
  /** Resolves when as many browsers are idle. */
  whenAvailable(count: number): Promise<void>;
  /** Resolves when it is gone. */
  remove(): Promise<void>;
};

/** Applies a pool of two blank browsers, or as `spec` says, that fills at once. */
export const newBlankPool = async (
  kube: Kube,
  namespace: string,
  spec: Partial<BrowserPoolSpec> = {},
): Promise<BlankPool> => {
  const metadata = { namespace, name: `blank-${newId()}` };
  const wanted = { size: 2, headless: true, blank: true, fillRatePerMinute: 6000, ...spec };
  await kube.create(browserPoolKind, { metadata, spec: wanted as BrowserPoolSpec });
  const read = async (): Promise<BrowserPool> => {
    const pool = await kube.get(browserPoolKind, metadata);
    if (!pool) throw new Error(`there is no pool ${metadata.name}`);
    return pool;
  };
  return {
    name: metadata.name,
    read,
    whenAvailable: (count) =>
      eventually(`${count} blank browsers are idle`, async () => {
        const { status } = await read();
        return status?.available === count && status.acquired === 0;
      }).then(() => undefined),
    async remove() {
      await kube.delete(browserPoolKind, metadata);
      await eventually("the pool is gone", async () => (await kube.get(browserPoolKind, metadata)) === undefined);
    },
  };
};

/** The same once it is full. */
export const fullBlankPool = async (...wanted: Parameters<typeof newBlankPool>): Promise<BlankPool> => {
  const pool = await newBlankPool(...wanted);
  await pool.whenAvailable(wanted[2]?.size ?? 2);
  return pool;
};

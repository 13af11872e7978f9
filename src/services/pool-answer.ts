import { browserPoolRecord } from "../domain/pool-record.ts";
import type { BrowserPool } from "../resources/browser-pool.ts";
import type { BrowserPoolRecord } from "../resources/browser-pool-wire.ts";
import type { ServiceDeps } from "./service-deps.ts";

/** The pool as answers show it, with its counts of this moment. */
export const poolAnswer = async (
  pool: BrowserPool,
  { store }: Pick<ServiceDeps, "store">,
): Promise<BrowserPoolRecord> =>
  browserPoolRecord(pool, await store.counts(pool.metadata.uid ?? ""), { extensionIds: [] });

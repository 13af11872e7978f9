/** Makes ended leases of a pool by the product's own scripts, and lets them age. */
import { poolKey } from "../../src/core/leases/pool-keys.ts";
import type { LeaseParts } from "./lease-parts.ts";

/** Takes and ends a lease of an idle browser of the pool, which becomes idle again. `request`: its text. */
export const endLease = async (
  { store, redis }: Pick<LeaseParts, "store" | "redis">,
  poolUid: string,
  { session, request = "{}", agoMs = 0 }: { session: string; request?: string; agoMs?: number },
): Promise<void> => {
  const taken = await store.take(poolUid, { session, channel: "none", request });
  if (taken.kind !== "granted") throw new Error(`${session}: ${taken.kind}`);
  await store.release(poolUid, session, "releasing", "released");
  await store.offer(poolUid, taken.lease);
  if (agoMs > 0) await redis.zincrby(poolKey(poolUid, "ended_at"), -agoMs, session);
};

/** The sizes of a pool: what it has now, what it is promised, and the base of its fill rate. */
import type { BrowserPool, BrowserPoolSpec } from "./browser-pool.ts";

type Sized = Pick<BrowserPoolSpec, "size" | "autoscale">;

/** The size that a pool keeps whatever the demand is: there must be room for it. */
export const promisedSize = ({ size, autoscale }: Sized): number => size ?? autoscale?.min ?? 0;

/** The size that a pool has now by its object; with autoscale the size that the operator chose last. */
export const presentSize = ({ spec, status }: Pick<BrowserPool, "spec" | "status">): number =>
  spec.size ?? status?.acceptedSize ?? promisedSize(spec);

/**
 * By how many browsers a change of its spec lets a pool promise more, 0 or below for none; `before`: undefined for a
 * new pool. A pool that a limit keeps below its promise does not grow by a change of anything else.
 */
export const growthOf = (spec: Sized, before: Pick<BrowserPool, "spec" | "status"> | undefined): number =>
  promisedSize(spec) - (before ? Math.max(presentSize(before), promisedSize(before.spec)) : 0);

/** The largest size by the spec alone, outside of windows of a schedule; 1 or more. */
export const largestSize = ({ size, autoscale }: Sized): number => size ?? autoscale?.max ?? 1;

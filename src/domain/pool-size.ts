/** The sizes of a pool: what it has now, what it is promised, and the base of its fill rate. */
import type { BrowserPool, BrowserPoolSpec } from "../resources/browser-pool.ts";

/** The size that a pool keeps whatever the demand is: there must be room for it. */
export const promisedSize = ({ size, autoscale }: Pick<BrowserPoolSpec, "size" | "autoscale">): number =>
  size ?? autoscale?.min ?? 0;

/** The size that a pool has now by its object; with autoscale the one that the operator chose last. */
export const presentSize = ({ spec, status }: Pick<BrowserPool, "spec" | "status">): number =>
  spec.size ?? status?.acceptedSize ?? promisedSize(spec);

/** The largest size by the spec alone, outside of windows of a schedule; 1 or more. */
export const largestSize = ({ size, autoscale }: Pick<BrowserPoolSpec, "size" | "autoscale">): number =>
  size ?? autoscale?.max ?? 1;

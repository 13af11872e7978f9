import type { FaultName } from "../faults/all-faults.ts";
import type { SourcePatch } from "../hook/source-patch.ts";

/** A mistake that somebody could make, as a change of the product's source. */
export type SeededBug = {
  name: string;
  /** What it breaks, for people. */
  breaks: string;
  /** Checks of which any has to find it; what others find beside does not count. */
  foundBy: readonly string[];
  /** What brings it out; empty: the load alone. */
  faults: readonly FaultName[];
  patches: readonly SourcePatch[];
};

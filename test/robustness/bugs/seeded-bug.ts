import type { FaultName } from "../faults/all-faults.ts";
import type { SourcePatch } from "../hook/source-patch.ts";
import type { PlanOptions } from "../schedule.ts";

/** A mistake that somebody could make, as a change of the product's source. */
export type SeededBug = {
  name: string;
  /** What it breaks, for people. */
  breaks: string;
  /** Checks of which any has to find it; what others find beside does not count. */
  foundBy: readonly string[];
  /** What brings it out; empty: the load alone. */
  faults: readonly FaultName[];
  /** What else it needs: pools that fill slowly, browsers that are idle now and then, faults at the same time. */
  plan?: Partial<Pick<PlanOptions, "loadMs" | "isSmall" | "clients" | "fillRates" | "together">>;
  patches: readonly SourcePatch[];
};

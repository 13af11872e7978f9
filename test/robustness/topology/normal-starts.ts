import type { Starts } from "../../support/simulated-node/switches.ts";

/** How browsers start while no fault has a say: as quickly as headless ones do. */
export const normalStarts: Starts = { delayMs: 100, jitterMs: 300, failingShare: 0 };

import { z } from "zod";

/** `status.observedGeneration`, the same for every kind. */
export const observedGeneration = z
  .int()
  .min(0)
  .optional()
  .describe("The generation of the spec that this status describes.");

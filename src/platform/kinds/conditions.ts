/** The standard `status.conditions` list (metav1.Condition), the same for every kind. */
import { z } from "zod";

/** `status.observedGeneration`, the same for every kind. */
export const observedGeneration = z
  .int()
  .min(0)
  .optional()
  .describe("The generation of the spec that this status describes.");

/** Patterns and bounds are those of metav1.Condition, so that `kubectl wait` and other tools can rely on them. */
export const Condition = z
  .object({
    type: z
      .string()
      .regex(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/)
      .max(316)
      .describe("What the condition is about, e.g. Ready."),
    status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe("The generation of the object that this condition describes."),
    lastTransitionTime: z.iso.datetime().describe("When the status last changed (RFC 3339)."),
    reason: z
      .string()
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .max(1024)
      .describe("One CamelCase word that says why, for programs."),
    message: z.string().max(32768).describe("A sentence that says why, for people."),
  })
  .describe("One aspect of the object's state.");
export type Condition = z.infer<typeof Condition>;

/** At most one condition of each type; server-side apply merges them by type. */
export const Conditions = z
  .array(Condition)
  .max(32)
  .default([])
  .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] })
  .describe("The object's state, one entry per type. Ready says whether the object does what its spec asks for.");

/** Reason of conditions and Events: the API server creates no pods for the object's browsers. */
export const failedCreate = "FailedCreate";

/** Reason of conditions: Chromium does not take what the object's browsers are given, such as an extension. */
export const setupRefused = "SetupRefused";

/**
 * The condition that says that no browser can be started for the object; undefined when one can, or when that is not
 * known.
 */
export const startFailureIn = (conditions: readonly Condition[] = []): Condition | undefined =>
  conditions.find(
    ({ type, status, reason }) =>
      type === "Ready" && status === "False" && (reason === failedCreate || reason === setupRefused),
  );

/** The condition that says why the operator refuses the object's spec; undefined when it does not. */
export const refusalIn = (conditions: readonly Condition[] = []): Condition | undefined =>
  conditions.find(({ type, status }) => type === "Accepted" && status === "False");

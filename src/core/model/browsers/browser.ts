/** The kind Browser: one browser on demand, outside any pool, for one session (the BROWSER rules). */
import { z } from "zod";
import { Conditions } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { maxIdLength, objectName, Selector, selectorOf } from "../../../platform/kinds/selector.ts";
import {
  maxSessionSeconds,
  Network,
  reportOutcome,
  sharedSettings,
  timeoutSeconds,
} from "../settings/browser-settings.ts";
import { Location } from "../settings/location.ts";
import { Telemetry } from "../settings/telemetry.ts";

const AttachedVault = z
  .object({ id: z.string().min(1).max(maxIdLength).describe("The vault's id, which is its metadata.name.") })
  .describe("A vault of the same project.");

const Profile = selectorOf({
  ...Selector.shape,
  saveChanges: z
    .boolean()
    .default(false)
    .describe("Save the browser's state to the profile when the browser ends: docs/profiles.md says when it does."),
}).describe("The profile that the browser starts with, by id or by name.");

/** Most vaults of one browser; each fill compares its vault with all of them. */
const maxVaults = 20;

export const BrowserSpec = z
  .object({
    name: objectName
      .optional()
      .describe("A name for the session, unique among the project's active ones. Left out: metadata.name."),
    tags: z
      .record(z.string(), z.string().max(1024))
      // The API server estimates the cost of the rule below by it.
      .meta({ maxProperties: 50 })
      .optional()
      .describe("Key-value pairs to find the session by; at most 50, and 8192 characters together."),
    timeoutSeconds: timeoutSeconds.default(60),
    maxSessionSeconds: maxSessionSeconds.optional(),
    ...sharedSettings,
    gpu: z.boolean().default(false).describe("Hardware graphics. Not with headless."),
    location: Location.optional(),
    profile: Profile.optional(),
    network: Network.optional().describe("What the browser may reach, and by which proxy."),
    telemetry: Telemetry.optional().describe("What is captured of the browser."),
    reportOutcome: reportOutcome.optional(),
    vaults: z
      .array(AttachedVault)
      .max(maxVaults)
      .default([])
      .meta(validations({ rule: "self == oldSelf", message: "vaults are fixed for the life of the session" }))
      .describe("Vaults whose items may be filled into this browser's pages. Fixed for the life of the session."),
  })
  .meta(
    validations(
      { rule: "!(self.gpu && self.headless)", message: "gpu needs a display: not with headless", fieldPath: ".gpu" },
      { rule: "!has(self.tags) || size(self.tags) <= 50", message: "at most 50 pairs", fieldPath: ".tags" },
      {
        rule: "!has(self.tags) || self.tags.map(key, size(key) + size(self.tags[key])).sum() <= 8192",
        message: "at most 8192 characters, all tags together",
        fieldPath: ".tags",
      },
    ),
  )
  .describe("The desired state of the browser. All fields but name and tags apply only when it starts.");
export type BrowserSpec = z.infer<typeof BrowserSpec>;

export const BrowserStatus = z
  .object({
    observedGeneration: z.int().min(0).optional().describe("The generation of the spec that this status describes."),
    conditions: Conditions,
    phase: z
      .enum(["Starting", "Active", "Ended", "Failed"])
      .default("Starting")
      .describe("The phase of the session. Ended and Failed are final."),
    pod: z.string().max(maxIdLength).optional().describe("The browser's pod. There is never a second one."),
    endReason: z.string().max(64).optional().describe("Why the session ended, e.g. timeout."),
    message: z.string().max(1024).optional().describe("Why the browser could not be started, for people."),
    endTime: z.iso.datetime({ precision: 3 }).optional().describe("When the session ended, or could not begin."),
    leaseEpoch: z
      .int()
      .min(0)
      .optional()
      .describe("The epoch of the session's lease. The operator raises it when Redis may have lost writes about it."),
  })
  .describe("The observed state of the browser. Written by the operator.");
export type BrowserStatus = z.infer<typeof BrowserStatus>;

export type Browser = CustomResource<typeof BrowserSpec, typeof BrowserStatus>;

export const browserKind: Kind<typeof BrowserSpec, typeof BrowserStatus> = {
  ...apiGroup,
  kind: "Browser",
  plural: "browsers",
  shortNames: ["br"],
  namespaced: true,
  description: "One browser on demand. Its session begins when it is up and ends with it.",
  spec: BrowserSpec,
  status: BrowserStatus,
  printerColumns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Reason", type: "string", jsonPath: ".status.endReason" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/** Annotation on a browser that a request has made: the `traceparent` of the request, where that is recorded. */
export const traceAnnotation = "browserpool.dev/traceparent";

/**
 * Annotation on a browser that saves its profile, if the save is held back: the state is thrown away at the browser's
 * end unless the annotation is gone by then.
 */
export const heldSaveAnnotation = "browserpool.dev/held-save";

/** Whether the browser's state would be thrown away if it ended now. */
export const isSaveHeld = ({ metadata }: Browser): boolean => metadata.annotations?.[heldSaveAnnotation] !== undefined;

/**
 * How long an ended browser can still be read, ms: as long as Redis keeps its session (scripts/includes/end-lease.lua).
 */
export const endedLifeMs = 24 * 60 * 60 * 1000;

/** Whether the session has ended, or the browser could not be started. */
export const isOver = ({ status }: Browser): boolean => status?.phase === "Ended" || status?.phase === "Failed";

/** The kind BrowserPool: identically configured browsers that are kept warm (the POOL rules). */
import { z } from "zod";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { objectName } from "../../../platform/kinds/selector.ts";
import { maxSessionSeconds, Network, profile, sharedSettings, timeoutSeconds } from "../settings/browser-settings.ts";
import { ChromePolicyRef } from "../settings/pool-policy.ts";
import { Telemetry } from "../settings/telemetry.ts";
import { Autoscale } from "./autoscale.ts";

/** The message of the API server for YAML and of the HTTP API for requests. */
export const refreshNeedsProfile = "needs a profile on the pool";

/** The same for a pool's size. */
export const sizeOrAutoscale = "give exactly one of size and autoscale";

export const BrowserPoolSpec = z
  .object({
    name: objectName.optional().describe("The pool's name, unique within the project. Left out: metadata.name."),
    region: z
      .enum(["us-east", "us-west", "eu-west", "ap-southeast"])
      .default("us-east")
      .meta(validations({ rule: "self == oldSelf", message: "region is fixed once the pool is created" }))
      .describe("Where the browsers run. Fixed once the pool is created."),
    size: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .optional()
      .describe("Browsers in the pool: in use, idle and starting together. Left out where autoscale sets the size."),
    autoscale: Autoscale.optional().describe(
      "The size follows the demand within bounds. In place of size, and not for pools that a HorizontalPodAutoscaler or KEDA scales.",
    ),
    fillRatePerMinute: z
      .number()
      .min(0)
      .default(25)
      .describe(
        "How much of the pool is filled per minute, in percent of its size, with autoscale of its max. 0 pauses filling.",
      ),
    timeoutSeconds: timeoutSeconds.default(600),
    maxSessionSeconds: maxSessionSeconds.optional(),
    reusePolicy: z
      .enum(["reset", "keep"])
      .default("reset")
      .describe(
        "What the next holder of a browser finds. reset: Chromium started anew, with nothing of the holder before. keep: the browser as it stands, with cookies, tabs and storage, for callers of this pool who trust each other. A change to reset discards idle browsers that were used.",
      ),
    serveOnDemand: z
      .boolean()
      .default(false)
      .describe(
        "Give idle browsers that nobody has used also to POST /browsers whose configuration they have: at once, for one session, after which they are destroyed and replaced at the fill rate.",
      ),
    blank: z
      .boolean()
      .optional()
      .describe(
        "Stock for POST /browsers: pods whose browser is not started. Each is given to one request, with the settings of that request, and destroyed at the end of its session. Of this pool's settings of browsers only headless and memory count; no other may be given. HTTP neither shows nor changes the pool, and its browsers count against limits while they are in use.",
      ),
    ...sharedSettings,
    chromePolicyRef: ChromePolicyRef.optional(),
    network: Network.optional().describe(
      "What the browsers may reach, and by which proxy. Applies to browsers started later.",
    ),
    profile: profile.optional(),
    refreshOnProfileUpdate: z
      .boolean()
      .optional()
      .describe(
        "Replace idle browsers when the profile changes. Needs a profile; left out, it is on when there is one.",
      ),
    telemetry: Telemetry.optional().describe("What is captured of the browsers. Applies to browsers started later."),
    discardIdle: z
      .string()
      .max(64)
      .optional()
      .describe(
        "A free token: whenever it changes, the browsers that are idle then are discarded and rebuilt at once.",
      ),
  })
  .meta(
    validations(
      { rule: "has(self.size) != has(self.autoscale)", message: sizeOrAutoscale, fieldPath: ".size" },
      {
        rule: "has(self.blank) == has(oldSelf.blank) && (!has(self.blank) || self.blank == oldSelf.blank)",
        message: "blank is fixed once the pool is created",
        fieldPath: ".blank",
      },
      {
        rule: "!has(self.refreshOnProfileUpdate) || !self.refreshOnProfileUpdate || has(self.profile)",
        message: `refreshOnProfileUpdate ${refreshNeedsProfile}`,
        fieldPath: ".refreshOnProfileUpdate",
      },
    ),
  )
  .describe("The desired state of the pool.");
export type BrowserPoolSpec = z.infer<typeof BrowserPoolSpec>;

const count = (what: string) => z.int().min(0).default(0).describe(what);

export const BrowserPoolStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    replicas: count("Live browser pods: in use, idle and starting."),
    available: count("Browsers that are idle and can be acquired now."),
    acquired: count("Browsers in use."),
    waiting: count("Callers that wait for a browser."),
    starting: count("Browsers that are starting."),
    outdated: count("Idle browsers that were made with an earlier configuration."),
    outdatedPods: count("Browsers of an earlier image or pod template. They are replaced at the fill rate."),
    chromiumVersions: z
      .array(
        z
          .object({
            version: z.string().max(32).describe("Such as 156.0.7800.12."),
            browsers: count("Browsers of this version."),
          })
          .describe("A version of Chromium."),
      )
      .max(4)
      .optional()
      .describe("The versions of Chromium that the browsers run, newest first; the four newest."),
    selector: z.string().max(1024).optional().describe("Label selector of the pool's pods, for the scale subresource."),
    nextStartTime: z.iso
      .datetime({ precision: 3 })
      .optional()
      .describe("When the fill rate allows the next start (RFC 3339 with milliseconds)."),
    acceptedSize: z
      .int()
      .min(0)
      .optional()
      .describe("The size that the operator keeps: the last that was within all limits, with autoscale its choice."),
    discardedToken: z.string().max(64).optional().describe("The spec.discardIdle that was last handled."),
    profileVersion: z
      .string()
      .max(64)
      .optional()
      .describe("The profile, by uid, and the version of its contents that idle browsers were last refreshed for."),
    failedStarts: count("Starts that failed in a row, up to now; starts at the same time count as one."),
    leaseEpoch: z
      .int()
      .min(0)
      .optional()
      .describe("The epoch of the pool's leases. The operator raises it when Redis may have lost writes about them."),
  })
  .describe("The observed state of the pool. Written by the operator.");
export type BrowserPoolStatus = z.infer<typeof BrowserPoolStatus>;

export type BrowserPool = CustomResource<typeof BrowserPoolSpec, typeof BrowserPoolStatus>;

export const browserPoolKind: Kind<typeof BrowserPoolSpec, typeof BrowserPoolStatus> = {
  ...apiGroup,
  kind: "BrowserPool",
  plural: "browserpools",
  shortNames: ["bp"],
  namespaced: true,
  description: "A set of identically configured browsers that are kept warm and handed out one at a time.",
  spec: BrowserPoolSpec,
  status: BrowserPoolStatus,
  scale: {
    specReplicasPath: ".spec.size",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  printerColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Wanted", type: "integer", jsonPath: ".status.acceptedSize" },
    { name: "Available", type: "integer", jsonPath: ".status.available" },
    { name: "Acquired", type: "integer", jsonPath: ".status.acquired" },
    { name: "Waiting", type: "integer", jsonPath: ".status.waiting" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Chromium", type: "string", jsonPath: ".status.chromiumVersions[0].version" },
    { name: "Scaling", type: "string", jsonPath: '.status.conditions[?(@.type=="ScalingLimited")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/**
 * A Chrome policy that is too large for its pool's object: the pool's reference to it, and the names of its ConfigMaps.
 */
import { createHash } from "node:crypto";
import { z } from "zod";

/** Most ConfigMaps of one policy: enough for 5 MiB that gzip can't shrink, at 700 KiB each. */
const maxPolicyParts = 8;

export const ChromePolicyRef = z
  .object({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe("SHA-256 of the policy's JSON, in hexadecimal digits."),
    configMaps: z
      .array(z.string().min(1).max(253))
      .min(1)
      .max(maxPolicyParts)
      .describe("The ConfigMaps with the gzipped JSON, in this order."),
  })
  .describe(
    "The ConfigMaps of a policy that is too large for this object. Written by the HTTP API; in YAML, use chromePolicy.",
  );
export type ChromePolicyRef = z.infer<typeof ChromePolicyRef>;

/** The key of a ConfigMap's part of the policy. */
export const policyPartKey = "policy.json.gz";

/** Label on the ConfigMaps of a pool's policy. */
export const policyPartLabel = "browserpool.dev/pool-policy";

/** A label's value has at most 63 characters; a pool's name can be longer. */
const maxLabelLength = 63;

/**
 * The value of the label and the start of the names. It is not the uid, since a new pool's parts are written before the
 * pool.
 */
export const policyOwner = (poolName: string): string =>
  poolName.length <= maxLabelLength ? poolName : createHash("sha256").update(poolName).digest("hex").slice(0, 32);

/** The start of the names of all of a pool's parts. */
export const policyPartPrefix = (poolName: string): string => `${policyOwner(poolName)}.policy-`;

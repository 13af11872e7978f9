/**
 * Packs a Chrome policy that is too large for its pool's object into ConfigMaps, and unpacks it: JSON, gzip, cut into
 * parts.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Kube } from "../../platform/kube/client.ts";
import type { ConfigMap, NamespacedRef, NewObject } from "../../platform/kube/objects.ts";
import { configMaps } from "../../platform/kube/resource-type.ts";
import { type BrowserPool, browserPoolKind } from "../model/pools/browser-pool.ts";
import { maxChromePolicyBytes } from "../model/settings/policies/chrome-policy.ts";
import {
  type ChromePolicyRef,
  policyOwner,
  policyPartKey,
  policyPartLabel,
  policyPartPrefix,
} from "../model/settings/pool-policy.ts";

export type ChromePolicy = Record<string, unknown>;

/**
 * Largest policy, bytes of JSON, that stays in the pool's object. Every replica keeps all pools in memory, each check
 * of a pool reads all of them, and every write of a status sends the whole object.
 */
export const maxInlinePolicyBytes = 16 * 1024;

/** Largest part, bytes: the API server refuses a ConfigMap above 1 MiB. */
export const maxPartBytes = 700 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

/**
 * `write`: 1 to 32 lower-case letters and digits, new for every write. No two writes share a part: otherwise one write
 * could delete its replaced parts while another stores the same policy in them.
 */
export const packPolicy = async (
  policy: ChromePolicy,
  pool: NamespacedRef,
  write: string,
): Promise<{ ref: ChromePolicyRef; parts: NewObject<ConfigMap>[] }> => {
  const text = JSON.stringify(policy);
  const packed = await compress(text);
  const count = Math.ceil(packed.length / maxPartBytes);
  const parts = Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `${policyPartPrefix(pool.name)}${write}-${index}`,
      namespace: pool.namespace,
      labels: { [policyPartLabel]: policyOwner(pool.name) },
    },
    immutable: true,
    binaryData: {
      [policyPartKey]: packed.subarray(index * maxPartBytes, (index + 1) * maxPartBytes).toString("base64"),
    },
  }));
  return { ref: { sha256: sha256(text), configMaps: parts.map(({ metadata }) => metadata.name) }, parts };
};

/**
 * `bytes`: length of the policy's JSON. Throws an Error that says what is missing or wrong. It never inflates to more
 * than 5 MiB.
 */
export const unpackPolicy = async (
  ref: ChromePolicyRef,
  parts: (Pick<ConfigMap, "binaryData"> | undefined)[],
): Promise<{ policy: ChromePolicy; bytes: number }> => {
  const chunks = ref.configMaps.map((name, index) => {
    const data = parts[index]?.binaryData?.[policyPartKey];
    if (data === undefined) throw new Error(`ConfigMap ${name} has no part of the policy, or does not exist`);
    return Buffer.from(data, "base64");
  });
  const text = await decompress(Buffer.concat(chunks), { maxOutputLength: maxChromePolicyBytes });
  if (sha256(text) !== ref.sha256) throw new Error("the parts don't have the SHA-256 that the pool names");
  // Its SHA-256 says that it is the text of a policy, as packPolicy had it.
  return { policy: JSON.parse(text.toString()) as ChromePolicy, bytes: text.length };
};

/**
 * Deletes all ConfigMaps of a pool's policies, with those that an interrupted change has left behind. Runs before the
 * pool's finalizer is removed: after that, they could belong to a new pool of the same name. Does nothing if the pool
 * is already gone.
 */
export const deletePolicyParts = async ({ metadata }: BrowserPool, kube: Kube): Promise<void> => {
  const current = await kube.get(browserPoolKind, metadata);
  if (current?.metadata.uid !== metadata.uid) return;
  const { items } = await kube.list(configMaps, {
    namespace: metadata.namespace,
    labelSelector: `${policyPartLabel}=${policyOwner(metadata.name)}`,
  });
  await Promise.all(items.map((part) => kube.delete(configMaps, part.metadata, { uid: part.metadata.uid })));
};

// The policy of an object as lists show it. A page has up to a hundred objects, each with a policy of up to 5 MiB, so a
// list leaves out a large one; an answer about the object alone has it (LIMIT-34).

/** Largest policy in a list, bytes of JSON: a hundred of them fit into one answer. */
const maxListedPolicyBytes = 16 * 1024;

/** The policy, or undefined for a large one. */
export const listedPolicy = (policy: ChromePolicy | undefined): ChromePolicy | undefined =>
  policy && Buffer.byteLength(JSON.stringify(policy)) > maxListedPolicyBytes ? undefined : policy;

/**
 * Stores the policy of one request that changes a pool. The order is safe even if this process dies in between:
 *   1. write the parts, under names that nothing refers to yet,
 *   2. write the pool (the caller does that),
 *   3. delete the parts that the pool referred to before.
 * Parts that a dead process leaves behind are deleted with the pool (docs/adr/0009-large-policies.md).
 */

import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedRef, Ref } from "../../platform/kube/objects.ts";
import { configMaps } from "../../platform/kube/resource-type.ts";
import type { Config } from "../config/config.ts";
import { type BrowserPool, type BrowserPoolSpec, browserPoolKind } from "../model/pools/browser-pool.ts";
import { policyPartPrefix } from "../model/settings/pool-policy.ts";
import { newId } from "../objects/new-id.ts";
import { requireBytes } from "../objects/project-quota.ts";
import { type ChromePolicy, maxInlinePolicyBytes, maxPartBytes, packPolicy } from "./policy-parts.ts";

type Deps = { config: Config; kube: Kube; log: Logger };

const isLarge = (policy: ChromePolicy): boolean => Buffer.byteLength(JSON.stringify(policy)) > maxInlinePolicyBytes;

/**
 * Throws `conflict` when the parts of the project's pools would have more bytes than they may (LIMIT-36). The pool's
 * own parts count no more: the new ones replace them.
 */
const requireRoom = async (added: number, pool: NamespacedRef, { kube, config }: Deps): Promise<void> => {
  const { items } = await kube.list(browserPoolKind, { namespace: pool.namespace });
  const others = items.filter(({ metadata }) => metadata.name !== pool.name);
  const parts = others.reduce((sum, { spec }) => sum + (spec.chromePolicyRef?.configMaps.length ?? 0), added);
  requireBytes({
    what: "chrome_policy: with this one the policies of this project's pools have",
    bytes: parts * maxPartBytes,
    most: config.limits.policyBytesPerProject,
    way: "use smaller ones",
    setting: "BROWSERPOOL_POLICY_BYTES_PER_PROJECT",
  });
};

/** Deletes parts. A part that can't be deleted now stays until its pool is deleted. Never throws. */
const deleteParts = async (parts: Ref[], { kube, log }: Deps): Promise<void> => {
  const deletions = await Promise.allSettled(parts.map((part) => kube.delete(configMaps, part)));
  const failed = deletions.filter(({ status }) => status === "rejected").length;
  if (failed > 0) log.warn({ parts: parts.map(({ name }) => name), failed }, "parts of a Chrome policy are left over");
};

/**
 * Deletes the parts that `before` refers to and `after` does not, but only those with the pool's name: YAML can refer
 * to any ConfigMap.
 */
export const deleteReplacedParts = async (before: BrowserPool, after: BrowserPool, deps: Deps): Promise<void> => {
  const { name: poolName, namespace } = before.metadata;
  const kept = new Set(after.spec.chromePolicyRef?.configMaps);
  const names = (before.spec.chromePolicyRef?.configMaps ?? []).filter(
    (name) => !kept.has(name) && name.startsWith(policyPartPrefix(poolName)),
  );
  await deleteParts(
    names.map((name) => ({ name, namespace })),
    deps,
  );
};

export type PolicyUpload = {
  /** Returns the spec to write. The first call stores a large policy; later calls refer to the same parts. */
  place(spec: BrowserPoolSpec, pool: NamespacedRef): Promise<BrowserPoolSpec>;
  /**
   * Runs the writes of the request. When they are refused, it deletes the parts; after an outage it keeps them, as they
   * may be in use.
   */
  orUndo<Result>(work: () => Promise<Result>): Promise<Result>;
};

/**
 * An upload for one request. Nothing is stored before `place` gets a policy that is too large for the pool's object.
 */
export const createPolicyUpload = (deps: Deps): PolicyUpload => {
  let stored: Awaited<ReturnType<typeof packPolicy>> | undefined;
  const store = async (policy: ChromePolicy, pool: NamespacedRef): Promise<typeof stored> => {
    const packed = await packPolicy(policy, pool, newId());
    await requireRoom(packed.parts.length, pool, deps);
    stored = packed;
    // Wait for all writes before reporting a failure: no part may appear after the deletion.
    const writes = await Promise.allSettled(stored.parts.map((part) => deps.kube.create(configMaps, part)));
    const failed = writes.find((write) => write.status === "rejected");
    if (failed) throw failed.reason;
    return stored;
  };
  return {
    async place(spec, pool) {
      const { chromePolicy, ...rest } = spec;
      if (!chromePolicy || !isLarge(chromePolicy)) return spec;
      const ref = (stored ?? (await store(chromePolicy, pool)))?.ref;
      return { ...rest, ...(ref && { chromePolicyRef: ref }) };
    },
    async orUndo(work) {
      try {
        return await work();
      } catch (error) {
        const isRefused = !(error instanceof AppError && error.code === "unavailable");
        if (isRefused) await deleteParts(stored?.parts.map(({ metadata }) => metadata) ?? [], deps);
        throw error;
      }
    },
  };
};

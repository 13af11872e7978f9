import { isDeepStrictEqual } from "node:util";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import type { Selector } from "../../../platform/kinds/selector.ts";
import { fromWire } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { type BrowserPool, browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { BrowserPoolAnswer, CreateBrowserPool, UpdateBrowserPool } from "../../model/pools/browser-pool-wire.ts";
import { managedBy, managedByAnnotation } from "../../model/pools/managed-by.ts";
import { newPoolSpec, patchPool } from "../../model/pools/pool-requests.ts";
import { growthOf } from "../../model/pools/pool-size.ts";
import { chooseProfile, Network } from "../../model/settings/browser-settings.ts";
import { resolveReferences } from "../../model/settings/references.ts";
import { retryConflicts } from "../../objects/change-object.ts";
import { newId } from "../../objects/new-id.ts";
import { fetchReferenced } from "../../objects/references.ts";
import { createPolicyUpload, deleteReplacedParts, type PolicyUpload } from "../../policies/policy-upload.ts";
import type { Project } from "../../projects/projects.ts";
import { describePool, fetchPool } from "./fetch-pool.ts";
import { checkPool, inTurn, type PoolRoomDeps, type PoolWriteDeps, reserveGrowth } from "./pool-checks.ts";
import { isRecovering } from "./refuse-while-recovering.ts";

/** Throws `read_only` for a pool that Git, or whoever else, owns (GITOPS-4). */
const requireWritable = (pool: BrowserPool): BrowserPool => {
  const owner = managedBy(pool);
  if (owner === undefined) return pool;
  const { name, namespace } = pool.metadata;
  const message = [
    `the pool is managed by ${owner} (annotation ${managedByAnnotation}): change it there, or give it to the HTTP API`,
    `by taking the annotation away there, or with kubectl -n ${namespace} annotate browserpool ${name} ${managedByAnnotation}-`,
  ];
  throw new AppError("read_only", message.join(" "));
};

/** Creates a pool; the operator begins to fill it at once. */
export const createPool = async (
  request: CreateBrowserPool,
  project: Project,
  deps: PoolWriteDeps,
): Promise<BrowserPoolAnswer> => {
  const created = newPoolSpec(request);
  if (!created.ok) throw invalidInput(created.problems);
  await checkPool({ spec: created.spec, project }, deps);
  const metadata = { name: newId(), namespace: project.namespace };
  const upload = createPolicyUpload(deps);
  const pool = await upload.orUndo(async () => {
    const spec = await upload.place(created.spec, metadata);
    return inTurn(project, deps, async () => {
      const wanted = { spec: created.spec, project, name: metadata.name };
      await checkPool(wanted, deps);
      await reserveGrowth(wanted, deps);
      return deps.kube.create(browserPoolKind, { metadata, spec });
    });
  });
  deps.pools.put(pool);
  return describePool(pool, deps);
};

/** Whether a request names the profile that the pool has already, by its id or by its name. */
const namesSameProfile = async (
  { before, asked }: { before: Selector | undefined; asked: Selector | undefined },
  project: Project,
  deps: { kube: Kube },
): Promise<boolean> => {
  const choice = asked && chooseProfile(asked);
  if (choice?.kind !== "profile" || !before) return false;
  if (isDeepStrictEqual(choice.profile, before)) return true;
  const selectors = [before, choice.profile];
  const references = selectors.map((selector) => ({ kind: "Profile" as const, path: ["profile"], selector }));
  const objects = await fetchReferenced(references, project, deps);
  const [old, wanted] = selectors.map((profile) => resolveReferences({ profile }, objects).profileId);
  return old !== undefined && old === wanted;
};

/** `before`: the pool that the change is based on. */
type Updated = { before: BrowserPool; pool: BrowserPool };

type Update = { request: UpdateBrowserPool; project: Project; upload: PolicyUpload };

/** Throws `stale_network` when the pool has another network than the request expects. */
const requireNetwork = (
  { spec: { network = {} } }: BrowserPool,
  { expected_network: expected }: UpdateBrowserPool,
): void => {
  if (expected && !isDeepStrictEqual(fromWire(Network, expected), network))
    throw new AppError("stale_network", "expected_network: the pool has another network by now; read the pool again");
};

/** Throws the API server's `Conflict` when the pool has changed since it was read. */
const writePool = async (
  before: BrowserPool,
  { request, project, upload }: Update,
  deps: PoolRoomDeps & { locks: Locks },
): Promise<Updated> => {
  requireNetwork(before, request);
  const profiles = { before: before.spec.profile, asked: request.profile };
  const isSameProfile = await namesSameProfile(profiles, project, deps);
  const patched = patchPool(before.spec, request, { isSameProfile });
  if (!patched.ok) throw invalidInput(patched.problems);
  const asked = patched.discardIdle ? { ...patched.spec, discardIdle: newId() } : patched.spec;
  if (isDeepStrictEqual(asked, before.spec)) return { before, pool: before };
  await checkPool({ spec: asked, project, before }, deps);
  // A large policy that a user wrote as YAML stays in the spec, where the user expects it.
  const spec = request.chrome_policy ? await upload.place(asked, before.metadata) : asked;
  const write = async (): Promise<Updated> => ({
    before,
    pool: await deps.kube.replace(browserPoolKind, { ...before, spec }),
  });
  if (growthOf(asked, before) <= 0 && asked.name === before.spec.name) return write();
  return inTurn(project, deps, async () => {
    const wanted = { spec: asked, project, before, name: before.metadata.name };
    await checkPool(wanted, deps);
    await reserveGrowth(wanted, deps);
    return write();
  });
};

const update = (idOrName: string, wanted: Update, deps: PoolRoomDeps & { locks: Locks }): Promise<Updated> =>
  retryConflicts("the pool", async () =>
    writePool(requireWritable(await fetchPool(idOrName, wanted.project, deps)), wanted, deps),
  );

/**
 * Changes a pool by the POOL-PATCH rules. POOL-PATCH-14: the request itself retires the idle browsers, so that exactly
 * those are discarded that are idle at the update. If this process dies in between, the operator does it by the same
 * token.
 */
export const updatePool = async (
  { idOrName, request }: { idOrName: string; request: UpdateBrowserPool },
  project: Project,
  deps: PoolWriteDeps,
): Promise<BrowserPoolAnswer> => {
  const upload = createPolicyUpload(deps);
  const { before, pool } = await upload.orUndo(() => update(idOrName, { request, project, upload }, deps));
  deps.pools.put(pool);
  await deleteReplacedParts(before, pool, deps);
  if (request.discard_all_idle && pool.spec.discardIdle)
    await deps.store.retire(pool.metadata.uid, {
      reason: "Discarded",
      unpaced: true,
      token: pool.spec.discardIdle,
    });
  // The operator does it, too. So no replica that has not heard of the change hands one out.
  if (before.spec.reusePolicy === "keep" && pool.spec.reusePolicy === "reset")
    await deps.store.retire(pool.metadata.uid, { reason: "Kept", unpaced: true, kept: true });
  return describePool(pool, deps);
};

/** The operator reads it: when a pool with it is deleted, it ends the pool's leases at once. */
const forceAnnotation = { "browserpool.dev/force-delete": "true" };

/**
 * Deletes a pool and its browsers. Without `force`, it keeps a pool that is in use and throws `pool_in_use`. One script
 * checks for leases and stops new ones, so no lease can begin in between.
 */
export const deletePool = async (
  { idOrName, force }: { idOrName: string; force: boolean },
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const pool = requireWritable(await fetchPool(idOrName, project, deps));
  const uid = pool.metadata.uid;
  if (!force && (await isRecovering(pool, deps)))
    throw new AppError("unavailable", "the sessions of this pool are being recovered; repeat the request", {
      retryAfterSeconds: 1,
    });
  const { leased } = await deps.store.drain(uid, { evenIfLeased: force });
  if (leased > 0 && !force)
    throw new AppError("pool_in_use", `${leased} browsers of this pool are acquired; release them or send force: true`);
  try {
    if (force) await deps.kube.patch(browserPoolKind, pool.metadata, { metadata: { annotations: forceAnnotation } });
    await deps.kube.delete(browserPoolKind, pool.metadata, { uid });
  } catch (error) {
    // If this fails too, the operator undrains the pool, since it is drained but not being deleted.
    await deps.store.undrain(uid).catch(() => undefined);
    throw error;
  }
};

/** Destroys all idle browsers of a pool; the operator refills it at the fill rate. Leased browsers stay. */
export const flushPool = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const pool = requireWritable(await fetchPool(idOrName, project, deps));
  await deps.store.retire(pool.metadata.uid, { reason: "Flushed" });
};

import { isDeepStrictEqual } from "node:util";
import { invalidInput } from "../../../platform/base/errors.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { type BrowserPool, browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { BrowserPoolRecord, UpdateBrowserPool } from "../../model/pools/browser-pool-wire.ts";
import { patchPool } from "../../model/pools/pool-patch.ts";
import { growthOf } from "../../model/pools/pool-size.ts";
import { newId } from "../../objects/new-id.ts";
import { retryConflicts } from "../../objects/retry-conflicts.ts";
import { createPolicyUpload, deleteReplacedParts, type PolicyUpload } from "../../policies/policy-upload.ts";
import type { Project } from "../../projects/projects.ts";
import { fetchPool } from "./fetch-pool.ts";
import { poolAnswer } from "./pool-answer.ts";
import { checkPool, inTurn, type PoolRoomDeps, type PoolWriteDeps, reserveGrowth } from "./pool-checks.ts";
import { namesSameProfile } from "./same-profile.ts";

/** `before`: the pool that the change is based on. */
type Updated = { before: BrowserPool; pool: BrowserPool };

type Update = { request: UpdateBrowserPool; project: Project; upload: PolicyUpload };

/** Throws the API server's `Conflict` when the pool has changed since it was read. */
const writePool = async (
  before: BrowserPool,
  { request, project, upload }: Update,
  deps: PoolRoomDeps & { locks: Locks },
): Promise<Updated> => {
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
  retryConflicts("the pool", async () => writePool(await fetchPool(idOrName, wanted.project, deps), wanted, deps));

/**
 * Changes a pool by the POOL-PATCH rules. POOL-PATCH-14: the request itself retires the idle browsers, so that exactly those are
 * discarded that are idle at the update. If this process dies in between, the operator does it by the same token.
 */
export const updatePool = async (
  { idOrName, request }: { idOrName: string; request: UpdateBrowserPool },
  project: Project,
  deps: PoolWriteDeps,
): Promise<BrowserPoolRecord> => {
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
  return poolAnswer(pool, deps);
};

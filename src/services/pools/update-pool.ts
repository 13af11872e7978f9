import { isDeepStrictEqual } from "node:util";
import { patchPool } from "../../domain/pool-patch.ts";
import { invalidInput } from "../../errors.ts";
import { type BrowserPool, browserPoolKind } from "../../resources/browser-pool.ts";
import type { BrowserPoolRecord, UpdateBrowserPool } from "../../resources/browser-pool-wire.ts";
import { newId } from "../objects/new-id.ts";
import { retryConflicts } from "../objects/retry-conflicts.ts";
import { createPolicyUpload, deleteReplacedParts, type PolicyUpload } from "../policies/policy-upload.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchPool } from "./fetch-pool.ts";
import { poolAnswer } from "./pool-answer.ts";
import { checkPool } from "./pool-checks.ts";

/** `before`: as it was read for the change. */
type Updated = { before: BrowserPool; pool: BrowserPool };

type Update = { request: UpdateBrowserPool; project: Project; upload: PolicyUpload };

/** Throws the API server's `Conflict` when somebody else changed the pool in the meantime. */
const writePool = async (
  before: BrowserPool,
  { request, project, upload }: Update,
  deps: ServiceDeps,
): Promise<Updated> => {
  const patched = patchPool(before.spec, request);
  if (!patched.ok) throw invalidInput(patched.problems);
  const asked = patched.discardIdle ? { ...patched.spec, discardIdle: newId() } : patched.spec;
  if (isDeepStrictEqual(asked, before.spec)) return { before, pool: before };
  await checkPool({ spec: asked, project, before }, deps);
  // A large policy that was written as YAML stays where its writer looks for it.
  const spec = request.chrome_policy ? await upload.place(asked, before.metadata) : asked;
  return { before, pool: await deps.kube.replace(browserPoolKind, { ...before, spec }) };
};

const update = (idOrName: string, wanted: Update, deps: ServiceDeps): Promise<Updated> =>
  retryConflicts("the pool", async () => writePool(await fetchPool(idOrName, wanted.project, deps), wanted, deps));

/**
 * Changes a pool by the POOL-PATCH rules. POOL-PATCH-14: what is idle is retired here, in the request, so that it is what
 * was idle at update time; the operator repeats it by the same token if this process dies in between.
 */
export const updatePool = async (
  { idOrName, request }: { idOrName: string; request: UpdateBrowserPool },
  project: Project,
  deps: ServiceDeps,
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
  return poolAnswer(pool, deps);
};

import { invalidInput } from "../../../platform/base/errors.ts";
import { browserPoolKind } from "../../model/pools/browser-pool.ts";
import type { BrowserPoolRecord, CreateBrowserPool } from "../../model/pools/browser-pool-wire.ts";
import { createPool as newPool } from "../../model/pools/pool-create.ts";
import { newId } from "../../objects/new-id.ts";
import { createPolicyUpload } from "../../policies/policy-upload.ts";
import type { Project } from "../../projects/projects.ts";
import { poolAnswer } from "./pool-answer.ts";
import { checkPool, inTurn, type PoolWriteDeps, reserveGrowth } from "./pool-checks.ts";

/** Creates a pool; the operator begins to fill it at once. */
export const createPool = async (
  request: CreateBrowserPool,
  project: Project,
  deps: PoolWriteDeps,
): Promise<BrowserPoolRecord> => {
  const created = newPool(request);
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
  return poolAnswer(pool, deps);
};

import type { Project } from "../../projects/projects.ts";
import type { ServiceDeps } from "../../service-deps.ts";
import { fetchPool } from "./fetch-pool.ts";

/** Destroys all idle browsers of a pool; the operator refills it at the fill rate. Leased browsers stay. */
export const flushPool = async (idOrName: string, project: Project, deps: ServiceDeps): Promise<void> => {
  const pool = await fetchPool(idOrName, project, deps);
  await deps.store.retire(pool.metadata.uid, { reason: "Flushed" });
};

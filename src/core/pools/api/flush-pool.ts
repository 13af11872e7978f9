import type { Kube } from "../../../platform/kube/client.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { Project } from "../../projects/projects.ts";
import { fetchPool } from "./fetch-pool.ts";

/** Destroys all idle browsers of a pool; the operator refills it at the fill rate. Leased browsers stay. */
export const flushPool = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const pool = await fetchPool(idOrName, project, deps);
  await deps.store.retire(pool.metadata.uid, { reason: "Flushed" });
};

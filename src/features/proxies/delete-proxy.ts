import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { requireUnused } from "../../core/objects/references.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { fetchProxy } from "./fetch-proxy.ts";
import { proxyKind } from "./proxy.ts";

/** Deletes a proxy; the operator deletes its Secret and then removes its finalizer. Throws `not_found`, and `conflict` while it is in use. */
export const deleteProxy = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const proxy = await fetchProxy(idOrName, project, deps);
  await requireUnused({ kind: "Proxy", object: proxy, what: "proxy" }, project, deps);
  await deps.kube.delete(proxyKind, proxy.metadata, { uid: proxy.metadata.uid });
};

import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import { fetchProxy } from "./fetch-proxy.ts";
import { proxyKind, type WebProxy } from "./proxy.ts";

/** Gives a proxy another name, which others may have too. Throws `not_found`. */
export const renameProxy = async (
  { idOrName, name }: { idOrName: string; name: string },
  project: Project,
  deps: { kube: Kube },
): Promise<WebProxy> => {
  const { metadata } = await fetchProxy(idOrName, project, deps);
  try {
    return await deps.kube.patch(proxyKind, metadata, { spec: { name: name.trim() } });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", `the proxy ${idOrName} was deleted meanwhile`);
    throw error;
  }
};

import { AppError } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";
import { proxyKind, type WebProxy } from "../../resources/proxy.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchProxy } from "./fetch-proxy.ts";

/** Gives a proxy another name, which others may have too. Throws `not_found`. */
export const renameProxy = async (
  { idOrName, name }: { idOrName: string; name: string },
  project: Project,
  deps: Pick<ServiceDeps, "kube">,
): Promise<WebProxy> => {
  const { metadata } = await fetchProxy(idOrName, project, deps);
  try {
    return await deps.kube.patch(proxyKind, metadata, { spec: { name: name.trim() } });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", `the proxy ${idOrName} was deleted meanwhile`);
    throw error;
  }
};

import { proxyRecord } from "../../domain/proxy-record.ts";
import { AppError } from "../../errors.ts";
import { proxyKind, type WebProxy } from "../../resources/proxy.ts";
import type { ProxyRecord } from "../../resources/proxy-wire.ts";
import { fetchObject, fetchObjects } from "../objects/fetch-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** A proxy as HTTP answers show it. */
export const proxyAnswer = (proxy: WebProxy, { proxyProvider }: Pick<ServiceDeps, "proxyProvider">): ProxyRecord =>
  proxyRecord(proxy, proxyProvider);

/** Fetches the proxies of a project, oldest first. */
export const fetchProxies = (project: Project, deps: Deps): Promise<WebProxy[]> =>
  fetchObjects(proxyKind, project, deps);

/** Fetches a proxy by its id alone: names are not unique. Throws `not_found`. */
export const fetchProxy = async (id: string, project: Project, deps: Deps): Promise<WebProxy> => {
  const proxy = await fetchObject(proxyKind, { id, project }, deps);
  if (!proxy) throw new AppError("not_found", `no proxy with id ${id} in this project`);
  return proxy;
};

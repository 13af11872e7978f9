import { fetchObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError, ambiguousName } from "../../platform/base/errors.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { proxyKind, type WebProxy } from "./proxy.ts";
import type { ProxyRecord } from "./proxy-wire.ts";
import type { ProxyProvider } from "./rules/proxy-provider.ts";
import { proxyRecord } from "./rules/proxy-record.ts";

type Deps = { kube: Kube };

/** A proxy as HTTP answers show it. */
export const proxyAnswer = (proxy: WebProxy, { proxyProvider }: { proxyProvider: ProxyProvider }): ProxyRecord =>
  proxyRecord(proxy, proxyProvider);

/** Fetches the proxies of a project, oldest first. */
export const fetchProxies = (project: Project, deps: Deps): Promise<WebProxy[]> =>
  fetchObjects(proxyKind, project, deps);

/** Fetches a proxy by its id, else by its name. Throws `not_found`, and `ambiguous_proxy_name` for a name that several have. */
export const fetchProxy = async (idOrName: string, project: Project, deps: Deps): Promise<WebProxy> => {
  const byId = await fetchObject(proxyKind, { id: idOrName, project }, deps);
  if (byId) return byId;
  const named = (await fetchProxies(project, deps)).filter((proxy) => wireName(proxy) === idOrName);
  const [only] = named;
  if (!only) throw new AppError("not_found", `no proxy ${idOrName} in this project`);
  if (named.length > 1) throw ambiguousName("ambiguous_proxy_name", `proxies are named ${idOrName}`, named.map(wireId));
  return only;
};

import type { Project } from "../../core/projects/projects.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { fetchProxies } from "./fetch-proxy.ts";
import type { WebProxy } from "./proxy.ts";
import { lastCheck } from "./rules/proxy-check.ts";

type ProxyQuery = {
  /** The whole name, in any case and with any accents. */
  name?: string | undefined;
  /** Part of the name, the host or the address, in any case, or the exact id. */
  query?: string | undefined;
};

const sameText = new Intl.Collator("en", { sensitivity: "base", usage: "search" });

const isWanted = (proxy: WebProxy, { name, query }: ProxyQuery): boolean => {
  const ownName = wireName(proxy) ?? "";
  if (name !== undefined && sameText.compare(name, ownName) !== 0) return false;
  if (query === undefined || query === proxy.metadata.name) return true;
  const searched = [ownName, proxy.spec.custom?.host ?? "", lastCheck(proxy)?.ipAddress ?? ""].join("\n");
  return searched.toLowerCase().includes(query.toLowerCase());
};

/** The proxies that match the query, oldest first. */
export const listProxies = async (query: ProxyQuery, project: Project, deps: { kube: Kube }): Promise<WebProxy[]> =>
  (await fetchProxies(project, deps)).filter((proxy) => isWanted(proxy, query));

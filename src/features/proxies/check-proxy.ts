import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { SecretsKeys } from "../../platform/secrets/secrets-key.ts";
import { fetchProxy } from "./fetch-proxy.ts";
import { openParentProxy } from "./open-parent-proxy.ts";
import { proxyKind, type WebProxy } from "./proxy.ts";
import type { CheckResult, ProxyChecks } from "./proxy-checks.ts";
import type { CheckProxy, ProxyRecord } from "./proxy-wire.ts";
import { checkText, proxyCheckAnnotation } from "./rules/proxy-check.ts";
import type { ProxyProvider } from "./rules/proxy-provider.ts";
import { proxyRecord } from "./rules/proxy-record.ts";

type Deps = { kube: Kube; proxyChecks: ProxyChecks; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys };

/**
 * Keeps the result with the proxy. Statuses belong to the operator, and the api has no right to write one: it writes an annotation,
 * from which both the answers and the status come.
 */
const keep = async (proxy: WebProxy, { status, ipAddress }: CheckResult, { kube }: Deps): Promise<WebProxy> => {
  const checkedAt = new Date().toISOString();
  const text = checkText(proxy, { status, checkedAt, ...(ipAddress && { ipAddress }) });
  try {
    return await kube.patch(proxyKind, proxy.metadata, { metadata: { annotations: { [proxyCheckAnnotation]: text } } });
  } catch (error) {
    if (hasReason(error, "NotFound")) throw new AppError("not_found", "the proxy was deleted meanwhile");
    throw error;
  }
};

/**
 * Connects through a proxy, and answers the proxy with what was found. A check of a URL is answered only: it may fail because of the
 * site. Throws what `ProxyChecks.check` throws, `not_found`, and `conflict` when the proxy's Secret is not as its spec says.
 */
export const checkProxy = async (
  { idOrName, request, project }: { idOrName: string; request: CheckProxy | undefined; project: Project },
  deps: Deps,
  signal: AbortSignal,
): Promise<ProxyRecord> => {
  const proxy = await fetchProxy(idOrName, project, deps);
  const parent = await openParentProxy(proxy, newId(), deps);
  const { url } = request ?? {};
  const result = await deps.proxyChecks.check(parent, { url, projectId: project.id, signal });
  signal.throwIfAborted();
  if (url === undefined) return proxyRecord(await keep(proxy, result, deps), deps.proxyProvider);
  const record = proxyRecord(proxy, deps.proxyProvider);
  return { ...record, status: result.status, last_checked: new Date().toISOString() };
};

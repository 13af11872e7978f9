import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { fetchObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import { newId } from "../../core/objects/new-id.ts";
import { requireUnused } from "../../core/objects/references.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError, ambiguousName, invalidInput, notSupportedHere } from "../../platform/base/errors.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { NewObject } from "../../platform/kube/objects.ts";
import { looksSealed, type SecretsKeys } from "../../platform/secrets/sealing.ts";
import { ownProxySecretName, proxyKind, type WebProxy } from "./proxy.ts";
import type { CheckResult, ProxyChecks } from "./proxy-checks.ts";
import { createProxySecret, openParentProxy } from "./proxy-secret.ts";
import type { CheckProxy, CreateProxy, ProxyAnswer } from "./proxy-wire.ts";
import type { ProxySecret } from "./rules/parent-proxy.ts";
import { checkText, lastCheck, proxyAnswer, proxyCheckAnnotation } from "./rules/proxy-answer.ts";
import { createProxy as newProxy, wireProxyProblems } from "./rules/proxy-create.ts";
import { type ProxyProvider, unsupportedSettings } from "./rules/proxy-provider.ts";

/** Fetches the proxies of a project, oldest first. */
const fetchProxies = (project: Project, deps: { kube: Kube }): Promise<WebProxy[]> =>
  fetchObjects(proxyKind, project, deps);

/**
 * Fetches a proxy by its id, else by its name. Throws `not_found`, and `ambiguous_proxy_name` for a name that several
 * have.
 */
export const fetchProxy = async (idOrName: string, project: Project, deps: { kube: Kube }): Promise<WebProxy> => {
  const byId = await fetchObject(proxyKind, { id: idOrName, project }, deps);
  if (byId) return byId;
  const named = (await fetchProxies(project, deps)).filter((proxy) => wireName(proxy) === idOrName);
  const [only] = named;
  if (!only) throw new AppError("not_found", `no proxy ${idOrName} in this project`);
  if (named.length > 1) throw ambiguousName("ambiguous_proxy_name", `proxies are named ${idOrName}`, named.map(wireId));
  return only;
};

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

type CreateDeps = { kube: Kube; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys };

/**
 * Creates the object first, since it owns the Secret. When the secrets can't be stored, it deletes the object again.
 */
const store = async (proxy: NewObject<WebProxy>, secret: ProxySecret, deps: CreateDeps): Promise<WebProxy> => {
  const created = await deps.kube.create(proxyKind, proxy);
  if (!created.spec.custom?.secretRef) return created;
  try {
    await createProxySecret(created, secret, deps);
  } catch (error) {
    await deps.kube.delete(proxyKind, created.metadata).catch(() => undefined);
    throw error;
  }
  return created;
};

/**
 * Creates a proxy each time that it is called. Throws `bad_request`, and `not_supported_here` without a provider for
 * it.
 */
export const createProxy = async (request: CreateProxy, project: Project, deps: CreateDeps): Promise<ProxyAnswer> => {
  const id = newId();
  const created = newProxy(request, ownProxySecretName(id));
  if (!created.ok) throw invalidInput(created.problems);
  if (created.secret.password && looksSealed(created.secret.password.reveal()))
    throw invalidInput([{ path: "config.password", message: "begins like an encrypted value" }]);
  const unsupported = unsupportedSettings(created.spec, deps.proxyProvider);
  if (unsupported.length > 0) throw notSupportedHere(wireProxyProblems(unsupported));
  const metadata = { name: id, namespace: project.namespace, finalizers: [secretFinalizer] };
  const proxy = await store({ metadata, spec: created.spec }, created.secret, deps);
  return proxyAnswer(proxy, deps.proxyProvider);
};

type CheckDeps = { kube: Kube; proxyChecks: ProxyChecks; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys };

/**
 * Keeps the result with the proxy. Statuses belong to the operator, and the api has no right to write one: it writes an
 * annotation, from which both the answers and the status come.
 */
const keep = async (proxy: WebProxy, { status, ipAddress }: CheckResult, { kube }: CheckDeps): Promise<WebProxy> => {
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
 * Connects through a proxy, and answers the proxy with what was found. A check of a URL is answered only: it may fail
 * because of the site. Throws what `ProxyChecks.check` throws, `not_found`, and `conflict` when the proxy's Secret is
 * not as its spec says.
 */
export const checkProxy = async (
  { idOrName, request, project }: { idOrName: string; request: CheckProxy | undefined; project: Project },
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<ProxyAnswer> => {
  const proxy = await fetchProxy(idOrName, project, deps);
  const parent = await openParentProxy(proxy, newId(), deps);
  const { url } = request ?? {};
  const result = await deps.proxyChecks.check(parent, { url, projectId: project.id, signal });
  signal.throwIfAborted();
  if (url === undefined) return proxyAnswer(await keep(proxy, result, deps), deps.proxyProvider);
  const record = proxyAnswer(proxy, deps.proxyProvider);
  return { ...record, status: result.status, last_checked: new Date().toISOString() };
};

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

/**
 * Deletes a proxy; the operator deletes its Secret and then removes its finalizer. Throws `not_found`, and `conflict`
 * while it is in use.
 */
export const deleteProxy = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const proxy = await fetchProxy(idOrName, project, deps);
  await requireUnused({ kind: "Proxy", object: proxy, what: "proxy" }, project, deps);
  await deps.kube.delete(proxyKind, proxy.metadata, { uid: proxy.metadata.uid });
};

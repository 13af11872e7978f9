import { newId } from "../../core/objects/new-id.ts";
import type { Project } from "../../core/projects/projects.ts";
import { invalidInput, notSupportedHere } from "../../platform/base/errors.ts";
import { secretFinalizer } from "../../platform/kinds/finalizers.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NewObject } from "../../platform/kube/objects.ts";
import { looksSealed } from "../../platform/secrets/sealing.ts";
import type { SecretsKeys } from "../../platform/secrets/secrets-key.ts";
import { ownProxySecretName, proxyKind, type WebProxy } from "./proxy.ts";
import { createProxySecret } from "./proxy-secret.ts";
import type { CreateProxy, ProxyRecord } from "./proxy-wire.ts";
import type { ProxySecret } from "./rules/parent-proxy.ts";
import { createProxy as newProxy, wireProxyProblems } from "./rules/proxy-create.ts";
import { type ProxyProvider, unsupportedSettings } from "./rules/proxy-provider.ts";
import { proxyRecord } from "./rules/proxy-record.ts";

type Deps = { kube: Kube; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys };

/** Creates the object first, since it owns the Secret. When the secrets can't be stored, it deletes the object again. */
const store = async (proxy: NewObject<WebProxy>, secret: ProxySecret, deps: Deps): Promise<WebProxy> => {
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

/** Creates a proxy each time that it is called. Throws `bad_request`, and `not_supported_here` without a provider for it. */
export const createProxy = async (request: CreateProxy, project: Project, deps: Deps): Promise<ProxyRecord> => {
  const id = newId();
  const created = newProxy(request, ownProxySecretName(id));
  if (!created.ok) throw invalidInput(created.problems);
  if (created.secret.password && looksSealed(created.secret.password.reveal()))
    throw invalidInput([{ path: "config.password", message: "begins like an encrypted value" }]);
  const unsupported = unsupportedSettings(created.spec, deps.proxyProvider);
  if (unsupported.length > 0) throw notSupportedHere(wireProxyProblems(unsupported));
  const metadata = { name: id, namespace: project.namespace, finalizers: [secretFinalizer] };
  const proxy = await store({ metadata, spec: created.spec }, created.secret, deps);
  return proxyRecord(proxy, deps.proxyProvider);
};

/**
 * The content of a proxy's Secret: the password and the certificates, each encrypted like stored logins. No other file
 * reads or writes such a Secret. Errors name entries, never their content.
 */

import type { ParentProxy } from "../../core/protocol/browser-setup.ts";
import { AppError, notSupportedHere } from "../../platform/base/errors.ts";
import { Sensitive } from "../../platform/base/sensitive.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NewObject, Secret } from "../../platform/kube/objects.ts";
import { secrets, typeMeta } from "../../platform/kube/resource-type.ts";
import { open, type SecretsKeys, seal } from "../../platform/secrets/sealing.ts";
import {
  hasOwnProxySecret,
  maxLoginLength,
  ownProxySecretName,
  proxyEntries,
  proxyKind,
  type WebProxy,
} from "./proxy.ts";
import { parseCaBundle } from "./rules/ca-bundle.ts";
import { type ProxySecret, parentProxyOf } from "./rules/parent-proxy.ts";
import { wireProxyProblems } from "./rules/proxy-create.ts";
import { loginProblem } from "./rules/proxy-problems.ts";
import { type ProxyProvider, unsupportedSettings } from "./rules/proxy-provider.ts";

type Deps = { kube: Pick<Kube, "get" | "create">; secretsKeys: SecretsKeys };

const ownType = "browserpool.dev/proxy";

/** A proxy must not give access to Secrets with another purpose, such as tokens of the cluster. */
const readableTypes = [ownType, "Opaque", "kubernetes.io/basic-auth"];

/** The Secret for a new proxy, which owns it. */
const newSecret = ({ metadata }: WebProxy, secret: ProxySecret, keys: SecretsKeys): NewObject<Secret> => {
  const place = { namespace: metadata.namespace, name: ownProxySecretName(metadata.name) };
  const stored = (entry: string, value: Sensitive | undefined): Record<string, string> =>
    value ? { [entry]: Buffer.from(seal(value, keys, { ...place, entry })).toString("base64") } : {};
  const bundle = secret.caBundle === undefined ? undefined : new Sensitive(secret.caBundle);
  return {
    metadata: { ...place, ownerReferences: [{ ...typeMeta(proxyKind), name: metadata.name, uid: metadata.uid }] },
    type: ownType,
    data: { ...stored(proxyEntries.password, secret.password), ...stored(proxyEntries.caBundle, bundle) },
  };
};

/** Stores the secrets of a new proxy. The error never quotes them. */
export const createProxySecret = async (proxy: WebProxy, secret: ProxySecret, deps: Deps): Promise<void> => {
  try {
    await deps.kube.create(secrets, newSecret(proxy, secret, deps.secretsKeys));
  } catch (error) {
    // An error message of the API server can quote what was written.
    if (error instanceof AppError && error.code === "bad_request")
      throw new AppError("bad_request", "the Kubernetes API refuses to store the proxy's secrets");
    throw error;
  }
};

const broken = (proxy: WebProxy, why: string): AppError =>
  new AppError("conflict", `the proxy ${proxy.metadata.name} can't be used: ${why}`);

const certificatesOf = (proxy: WebProxy, text: string): string => {
  const bundle = parseCaBundle(text);
  if (bundle.ok) return bundle.certificates;
  throw broken(proxy, `the entry ${proxyEntries.caBundle} of its Secret ${bundle.problem}`);
};

const passwordOf = (proxy: WebProxy, password: Sensitive): Sensitive => {
  const text = password.reveal();
  const problem = text.length > maxLoginLength ? `must not exceed ${maxLoginLength} characters` : loginProblem(text);
  if (problem) throw broken(proxy, `the entry ${proxyEntries.password} of its Secret ${problem}`);
  return password;
};

/**
 * Reads what the spec says is in the proxy's Secret. Throws `conflict` when it is not there or malformed, and
 * `internal_error` when it is encrypted with an unknown key.
 */
const openProxySecret = async (proxy: WebProxy, { kube, secretsKeys }: Deps): Promise<ProxySecret> => {
  const { hasPassword = false, hasCaBundle = false, secretRef } = proxy.spec.custom ?? {};
  if (!secretRef || !(hasPassword || hasCaBundle)) return {};
  const place = { namespace: proxy.metadata.namespace, name: secretRef.name };
  const secret = await kube.get(secrets, place);
  if (!secret || !readableTypes.includes(secret.type ?? "Opaque"))
    throw broken(proxy, `there is no Secret ${place.name} of the type Opaque`);
  const read = (entry: string): Sensitive => {
    const stored = secret.data?.[entry];
    if (stored === undefined) throw broken(proxy, `the Secret ${place.name} has no entry ${entry}`);
    const text = Buffer.from(stored, "base64").toString("utf8");
    return hasOwnProxySecret(proxy) ? open(text, secretsKeys, { ...place, entry }) : new Sensitive(text);
  };
  return {
    ...(hasPassword && { password: passwordOf(proxy, read(proxyEntries.password)) }),
    ...(hasCaBundle && { caBundle: certificatesOf(proxy, read(proxyEntries.caBundle).reveal()) }),
  };
};

/**
 * A proxy as agents and checks connect to it, with its secrets. `session`: what a provider keeps one address for.
 * Throws `not_supported_here` when the installation can't carry the proxy out, and what `openProxySecret` throws.
 */
export const openParentProxy = async (
  proxy: WebProxy,
  session: string,
  deps: { kube: Kube; proxyProvider: ProxyProvider; secretsKeys: SecretsKeys },
): Promise<ParentProxy> => {
  const secret = await openProxySecret(proxy, deps);
  const parent = parentProxyOf(proxy, secret, deps.proxyProvider, session);
  if (!parent) throw notSupportedHere(wireProxyProblems(unsupportedSettings(proxy.spec, deps.proxyProvider)));
  return parent;
};

/**
 * A credential provider is a Secret in the system namespace, named `credential-provider-<id>`, with the type and the label below:
 * what is told of it, as JSON, and its token, encrypted as other stored values are. No other file reads or writes such a Secret.
 */
import type { Config } from "../../../core/config/config.ts";
import { changeObject } from "../../../core/objects/change-object.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { NamespacedRef, Secret } from "../../../platform/kube/objects.ts";
import { secrets } from "../../../platform/kube/resource-type.ts";
import { open, type SecretsKeys, seal } from "../../../platform/secrets/sealing.ts";
import { mostProviders, ProviderAnswer } from "./provider.ts";

const secretType = "browserpool.dev/credential-provider";
const label = { "browserpool.dev/kind": "credential-provider" };
const selector = "browserpool.dev/kind=credential-provider";
const namePrefix = "credential-provider-";
const idPattern = /^[a-z0-9]{1,40}$/;
const tokenEntry = "token";
const settingsEntry = "settings";

/** Without the id, which is in the Secret's name. */
type Settings = Record<string, unknown>;

/** A provider without its token. `version`: changes with each write. */
export type StoredProvider = ProviderAnswer & { version: string };

type Deps = { kube: Kube; config: Pick<Config, "systemNamespace">; secretsKeys: SecretsKeys };

const refOf = (id: string, { config }: Pick<Deps, "config">): NamespacedRef => ({
  name: `${namePrefix}${id}`,
  namespace: config.systemNamespace,
});

const jsonOf = (text: string): object => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
};

const decoded = (stored: string | undefined): string => Buffer.from(stored ?? "", "base64").toString("utf8");
const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** Undefined for what is no provider, or damaged. */
const readProvider = ({ metadata, type, data }: Secret): StoredProvider | undefined => {
  if (type !== secretType || !metadata.name.startsWith(namePrefix) || metadata.deletionTimestamp) return undefined;
  const id = metadata.name.slice(namePrefix.length);
  const provider = ProviderAnswer.safeParse({ ...jsonOf(decoded(data?.[settingsEntry])), id }).data;
  return provider && { ...provider, version: metadata.resourceVersion };
};

const dataOf = (settings: Settings, token: Sensitive | undefined, place: NamespacedRef, { secretsKeys }: Deps) => ({
  [settingsEntry]: encoded(JSON.stringify(settings)),
  ...(token && { [tokenEntry]: encoded(seal(token, secretsKeys, { ...place, entry: tokenEntry })) }),
});

/** All providers, in the order in which they are looked at. */
export const fetchProviders = async ({ kube, config }: Pick<Deps, "kube" | "config">): Promise<StoredProvider[]> => {
  const namespace = config.systemNamespace;
  const { items } = await kube.list(secrets, { namespace, labelSelector: selector, limit: mostProviders * 2 });
  return items
    .flatMap((secret) => readProvider(secret) ?? [])
    .sort((a, b) => a.priority - b.priority || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id));
};

/** One provider; undefined when there is none. */
export const fetchStoredProvider = async (id: string, deps: Pick<Deps, "kube" | "config">) => {
  const secret = idPattern.test(id) ? await deps.kube.get(secrets, refOf(id, deps)) : undefined;
  return secret && readProvider(secret);
};

/** The token of a provider; undefined when it is gone. It must not be logged, sent in an answer or stored elsewhere. */
export const openToken = async (id: string, deps: Deps): Promise<Sensitive | undefined> => {
  const place = refOf(id, deps);
  const secret = await deps.kube.get(secrets, place);
  if (!secret || !readProvider(secret)) return undefined;
  const stored = decoded(secret.data?.[tokenEntry]);
  return stored === "" ? new Sensitive("") : open(stored, deps.secretsKeys, { ...place, entry: tokenEntry });
};

/** Stores a new provider. */
export const createProviderSecret = async (
  { id, ...settings }: ProviderAnswer,
  token: Sensitive,
  deps: Deps,
): Promise<void> => {
  const place = refOf(id, deps);
  const metadata = { ...place, labels: label };
  await deps.kube.create(secrets, { metadata, type: secretType, data: dataOf(settings, token, place, deps) });
};

/** Writes what `change` returns; undefined when there is no such provider. `token`: the new one, if there is one. */
export const changeProviderSecret = async (
  id: string,
  { change, token }: { change(before: ProviderAnswer): ProviderAnswer; token: Sensitive | undefined },
  deps: Deps,
): Promise<StoredProvider | undefined> => {
  const place = refOf(id, deps);
  if (!idPattern.test(id)) return undefined;
  const written = await changeObject(deps.kube, secrets, place, (secret) => {
    const before = readProvider(secret);
    if (!before) return {};
    const { version: _, ...known } = before;
    const { id: __, ...settings } = change(known);
    return { data: dataOf(settings, token, place, deps) };
  });
  return written && readProvider(written);
};

/** Deletes a provider with its token. */
export const deleteProviderSecret = (id: string, deps: Pick<Deps, "kube" | "config">): Promise<void> =>
  deps.kube.delete(secrets, refOf(id, deps));

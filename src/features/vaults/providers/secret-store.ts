/** Reads the Secrets of a provider by the rights of its token, and by no right of this service. */
import { z } from "zod";
import { retry } from "../../../platform/base/retry.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { AccountReads } from "../../../platform/kube/account-reads.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { isTransient, KubeError } from "../../../platform/kube/kube-error.ts";
import type { ProviderItem } from "./provider.ts";
import { ItemSecret, itemOf, loginOf } from "./rules/item-of-secret.ts";
import { growingList, ProviderFailed, readMs, readTries, type Store, type StoredItem } from "./store.ts";

/** Where and how to read. */
type SecretPlace = { token: Sensitive; namespace: string; labelSelector: string };

/** Secrets on a page of a list, and bytes of it: their annotations alone can have 256 KiB each. */
const pageSize = 250;
const mostPageBytes = 16 * 1024 * 1024;

/** Secrets that are looked at in one store. */
const mostSecrets = 10_000;

/** Bytes of the answer with one Secret, which etcd limits to 1.5 MiB. */
const mostSecretBytes = 4 * 1024 * 1024;

/** Lists with names and annotations only: no value leaves the API server for them. */
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

const Page = z.object({
  items: z.array(z.object({ metadata: z.unknown() })).nullish(),
  metadata: z.object({ continue: z.string().nullish() }).nullish(),
});
const FoundSecrets = z.object({ items: z.array(z.unknown()).nullish() });

const explained = (error: unknown): unknown => {
  if (!(error instanceof KubeError)) return error;
  const { status, reason } = error;
  if (status === 401) return new ProviderFailed("credential_provider_refused", "the token is not valid (401)");
  if (status === 403)
    return new ProviderFailed("credential_provider_refused", "the token may not list Secrets of the namespace (403)");
  if (status === 400)
    return new ProviderFailed("credential_provider_refused", "the label_selector or the token is malformed (400)");
  if (reason === "TooLarge")
    return new ProviderFailed(
      "credential_provider_unavailable",
      "the Secrets are too large; narrow the label_selector",
    );
  return new ProviderFailed("credential_provider_unavailable", `the store does not answer (${status || "no answer"})`);
};

const answered = <S extends z.ZodType>(schema: S, answer: unknown): z.output<S> => {
  const { data, error } = schema.safeParse(answer);
  if (error) throw new ProviderFailed("credential_provider_unavailable", "the store's answer is none of a list");
  return data;
};

const openReads = (token: Sensitive, kube: Pick<Kube, "asAccount">): AccountReads => {
  try {
    return kube.asAccount(token, { timeoutMs: readMs });
  } catch {
    const why = "the service's kubeconfig does not say plainly where the API server is";
    throw new ProviderFailed("credential_provider_unavailable", why);
  }
};

const withStore = async <T>(
  { token }: SecretPlace,
  kube: Pick<Kube, "asAccount">,
  work: (read: AccountReads["read"]) => Promise<T>,
): Promise<T> => {
  const reads = openReads(token, kube);
  try {
    return await work((path, options) =>
      retry(() => reads.read(path, options), { isCurable: isTransient, ...readTries }),
    );
  } catch (error) {
    throw explained(error);
  } finally {
    await reads.close();
  }
};

const pathOf = ({ namespace }: SecretPlace): string => `/api/v1/namespaces/${namespace}/secrets`;

/** One page of items. `limit`: of Secrets. */
const readPage = async (
  place: SecretPlace,
  { limit, next }: { limit: number; next?: string },
  read: AccountReads["read"],
): Promise<{ items: ProviderItem[]; next: string | undefined }> => {
  const query = { limit, ...(place.labelSelector.trim() && { labelSelector: place.labelSelector }) };
  const page = answered(
    Page,
    await read(pathOf(place), {
      query: { ...query, ...(next && { continue: next }) },
      accept: metadataOnly,
      mostBytes: mostPageBytes,
    }),
  );
  const items = (page.items ?? []).flatMap(({ metadata }) => itemOf(metadata, place.namespace) ?? []);
  return { items, next: page.metadata?.continue || undefined };
};

const listSecrets = (place: SecretPlace, kube: Pick<Kube, "asAccount">): Promise<ProviderItem[]> =>
  withStore(place, kube, async (read) => {
    const list = growingList();
    let next: string | undefined;
    for (let seen = 0; seen < mostSecrets; seen += pageSize) {
      const page = await readPage(place, { limit: pageSize, ...(next && { next }) }, read);
      list.add(page.items);
      next = page.next;
      if (!next) return list.items;
    }
    throw new ProviderFailed(
      "credential_provider_unavailable",
      `the store has more than ${mostSecrets} Secrets; give a label_selector`,
    );
  });

/** It must be among those that a list has, by its labels too. */
const readSecret = (place: SecretPlace, path: string, kube: Pick<Kube, "asAccount">): Promise<StoredItem> => {
  const [namespace, name = "", ...others] = path.split("/");
  const isPath =
    namespace === place.namespace && others.length === 0 && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name);
  return withStore(place, kube, async (read) => {
    if (!isPath) throw new ProviderFailed("external_credential_not_found", "the path is none of the provider");
    const labels = place.labelSelector.trim() && { labelSelector: place.labelSelector };
    const query = { limit: 1, fieldSelector: `metadata.name=${name}`, ...labels };
    const found = answered(FoundSecrets, await read(pathOf(place), { query, mostBytes: mostSecretBytes }));
    const [first] = found.items ?? [];
    const secret = ItemSecret.safeParse(first).data;
    const item = secret && itemOf(secret.metadata, place.namespace);
    if (!item) throw new ProviderFailed("external_credential_not_found", "the provider has no such item");
    const login = loginOf(secret);
    if (!login)
      throw new ProviderFailed("external_credential_unusable", "the item has no value, or one that is no text");
    return { item, login };
  });
};

/** The Secrets of a namespace. */
export const openSecretStore = (place: SecretPlace, kube: Pick<Kube, "asAccount">): Store => ({
  place: place.namespace,
  list: () => listSecrets(place, kube),
  read: (path) => readSecret(place, path, kube),
  tryList: () =>
    withStore(place, kube, async (read) => {
      await readPage(place, { limit: 1 }, read);
    }),
});

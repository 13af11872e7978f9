/** Reads the Secrets of a provider by the rights of its token, and by no right of this service. */
import { z } from "zod";
import { doubling, retry } from "../../../platform/base/retry.ts";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import type { AccountReads } from "../../../platform/kube/account-reads.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { isTransient, KubeError } from "../../../platform/kube/kube-error.ts";
import type { Login } from "../connections/rules/change-login.ts";
import type { ProviderItem } from "./provider.ts";
import { ItemSecret, itemOf, loginOf } from "./rules/item-of-secret.ts";

/** Why a provider gives no login: it does not answer, does not let in, has no such item, or one that can't be typed. */
export type ProviderProblem =
  | "credential_provider_unavailable"
  | "credential_provider_refused"
  | "external_credential_not_found"
  | "external_credential_unusable";

/** A provider gives no login. The message is for people, and has nothing of what the store holds. */
export class ProviderFailed extends Error {
  readonly code: ProviderProblem;
  constructor(code: ProviderProblem, message: string) {
    super(message);
    this.code = code;
  }
}

/** Where and how to read. */
type Store = { token: Sensitive; namespace: string; labelSelector: string };

/** Deadline of one read, ms. */
const readMs = 5000;

/** Tries of a read that gets no answer, within this time, ms. */
const tries = 3;
const withinMs = 12_000;
const pauseMs = doubling(300);

/** Secrets on a page of a list, and bytes of it: their annotations alone can have 256 KiB each. */
const pageSize = 250;
const mostPageBytes = 16 * 1024 * 1024;

/** For a whole list, ms, and characters of its items, which are kept in memory. */
const listMs = 60_000;
const mostListLength = 8 * 1024 * 1024;

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
  { token }: Store,
  kube: Pick<Kube, "asAccount">,
  work: (read: AccountReads["read"]) => Promise<T>,
): Promise<T> => {
  const reads = openReads(token, kube);
  try {
    return await work((path, options) =>
      retry(() => reads.read(path, options), { isCurable: isTransient, pauseMs, tries, withinMs }),
    );
  } catch (error) {
    throw explained(error);
  } finally {
    await reads.close();
  }
};

const pathOf = ({ namespace }: Store): string => `/api/v1/namespaces/${namespace}/secrets`;

/** One page of items. `limit`: of Secrets. */
const readPage = async (
  store: Store,
  { limit, next }: { limit: number; next?: string },
  read: AccountReads["read"],
): Promise<{ items: ProviderItem[]; next: string | undefined }> => {
  const query = { limit, ...(store.labelSelector.trim() && { labelSelector: store.labelSelector }) };
  const page = answered(
    Page,
    await read(pathOf(store), {
      query: { ...query, ...(next && { continue: next }) },
      accept: metadataOnly,
      mostBytes: mostPageBytes,
    }),
  );
  const items = (page.items ?? []).flatMap(({ metadata }) => itemOf(metadata, store.namespace) ?? []);
  return { items, next: page.metadata?.continue || undefined };
};

/** All items of a store. Throws `ProviderFailed`, also for a store of too many Secrets. */
export const listStoreItems = (store: Store, kube: Pick<Kube, "asAccount">): Promise<ProviderItem[]> =>
  withStore(store, kube, async (read) => {
    const items: ProviderItem[] = [];
    const untilMs = performance.now() + listMs;
    let length = 0;
    let next: string | undefined;
    for (let seen = 0; seen < mostSecrets; seen += pageSize) {
      const page = await readPage(store, { limit: pageSize, ...(next && { next }) }, read);
      items.push(...page.items);
      length += JSON.stringify(page.items).length;
      if (length > mostListLength)
        throw new ProviderFailed("credential_provider_unavailable", "the addresses of the Secrets are too long");
      next = page.next;
      if (!next) return items;
      if (performance.now() > untilMs)
        throw new ProviderFailed("credential_provider_unavailable", "the store takes too long to list");
    }
    throw new ProviderFailed(
      "credential_provider_unavailable",
      `the store has more than ${mostSecrets} Secrets; give a label_selector`,
    );
  });

/** Whether the store can be listed. Throws `ProviderFailed` when it cannot. */
export const tryStore = (store: Store, kube: Pick<Kube, "asAccount">): Promise<void> =>
  withStore(store, kube, async (read) => {
    await readPage(store, { limit: 1 }, read);
  });

/**
 * The item of this path as it is now, with its login. It must be among those that the store lists, by its labels too. Throws
 * `ProviderFailed`.
 */
export const readStoreItem = (
  store: Store,
  path: string,
  kube: Pick<Kube, "asAccount">,
): Promise<{ item: ProviderItem; login: Login }> => {
  const [namespace, name = "", ...others] = path.split("/");
  const isPath =
    namespace === store.namespace && others.length === 0 && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name);
  return withStore(store, kube, async (read) => {
    if (!isPath) throw new ProviderFailed("external_credential_not_found", "the path is none of the provider");
    const labels = store.labelSelector.trim() && { labelSelector: store.labelSelector };
    const query = { limit: 1, fieldSelector: `metadata.name=${name}`, ...labels };
    const found = answered(FoundSecrets, await read(pathOf(store), { query, mostBytes: mostSecretBytes }));
    const [first] = found.items ?? [];
    const secret = ItemSecret.safeParse(first).data;
    const item = secret && itemOf(secret.metadata, store.namespace);
    if (!item) throw new ProviderFailed("external_credential_not_found", "the provider has no such item");
    const login = loginOf(secret);
    if (!login)
      throw new ProviderFailed("external_credential_unusable", "the item has no value, or one that is no text");
    return { item, login };
  });
};

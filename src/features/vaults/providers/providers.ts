import type { Config } from "../../../core/config/config.ts";
import { isWanted } from "../../../core/http/paging.ts";
import { newId } from "../../../core/objects/new-id.ts";
import type { Projects } from "../../../core/projects/projects.ts";
import { AppError, invalidInput, notSupportedHere } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import type { ProviderLookups } from "./lookups.ts";
import { openStore } from "./open-store.ts";
import {
  type CreateProvider,
  mostProviders,
  type ProviderAnswer,
  type ProviderItem,
  type ProviderPlace,
  type ProviderTest,
  type UpdateProvider,
} from "./provider.ts";
import {
  changeProviderSecret,
  createProviderSecret,
  deleteProviderSecret,
  fetchProviders,
  fetchStoredProvider,
  type StoredProvider,
} from "./provider-secret.ts";
import { addressProblem, foreignFields, placeOf } from "./rules/provider-place.ts";
import { ProviderFailed } from "./store.ts";

type Deps = { kube: Kube; config: Config; locks: Locks; projects: Projects; secretsKeys: SecretsKeys };
type ReadDeps = Pick<Deps, "kube" | "config">;

/** A provider as answers show it, without its token. */
export const providerAnswer = ({ version: _, ...provider }: StoredProvider): ProviderAnswer => provider;

/** Throws `not_found`. */
export const fetchProvider = async (id: string, deps: ReadDeps): Promise<StoredProvider> => {
  const provider = await fetchStoredProvider(id, deps);
  if (!provider) throw new AppError("not_found", `no credential provider ${id}`);
  return provider;
};

/** Those that a list asks for, in the order in which logins look in them. `query`: part of the name, or the exact id. */
export const listProviders = async (
  wanted: { query?: string | undefined },
  deps: ReadDeps,
): Promise<ProviderAnswer[]> =>
  (await fetchProviders(deps)).filter((provider) => isWanted(provider, wanted)).map(providerAnswer);

/** Throws `bad_request` for what is no id of a project. */
const requireProjects = (ids: readonly string[] | null | undefined, { projects }: Pick<Deps, "projects">): void => {
  const details = (ids ?? []).flatMap((id, index) =>
    projects.find(id)?.id === id ? [] : [{ path: `projects[${index}]`, message: "is no id of a project" }],
  );
  if (details.length > 0) throw invalidInput(details);
};

/** Throws `name_taken`. */
const requireFree = (name: string, others: readonly StoredProvider[]): void => {
  if (others.some((other) => other.name === name))
    throw new AppError("name_taken", `another credential provider has the name ${name}`);
};

/** Names and numbers of providers are looked at and written by one request at a time. */
const inTurn = <T>({ locks }: Pick<Deps, "locks">, work: () => Promise<T>): Promise<T> =>
  locks.hold(["credential-providers"], work);

/** Throws `not_supported_here` for a Vault that is not asked from here. */
const requireAddress = (address: string, { config }: Pick<Deps, "config">): void => {
  const { credentialProviderAddresses: allowed } = config;
  const message = addressProblem(address, allowed);
  if (message !== undefined)
    throw notSupportedHere([{ path: allowed.length === 0 ? "provider_type" : "address", message }]);
};

/** Throws `bad_request`, and `not_supported_here` for a store that is not asked from here. */
const requirePlace = ({ provider_type, ...given }: CreateProvider, deps: Pick<Deps, "config">): ProviderPlace => {
  if (provider_type === "onepassword") {
    const way = "have External Secrets copy its items into Secrets of a namespace, and give kubernetes";
    throw notSupportedHere([{ path: "provider_type", message: `1Password is not asked from here; ${way}` }]);
  }
  if (provider_type === "vault" && given.address !== undefined) requireAddress(given.address, deps);
  const foreign = foreignFields(provider_type, given);
  if (foreign.length > 0) throw invalidInput(foreign);
  const place = placeOf(provider_type, given);
  if ("message" in place) throw invalidInput([place]);
  return place;
};

/**
 * Stores a provider; it is looked at after those that there are. Throws `not_supported_here`, `bad_request`, `name_taken`, and
 * `conflict` when there are too many.
 */
export const createProvider = async (request: CreateProvider, deps: Deps): Promise<ProviderAnswer> => {
  const { projects = null, token, cache_ttl_seconds } = request;
  const place = requirePlace(request, deps);
  requireProjects(projects, deps);
  const name = request.name.trim();
  return inTurn(deps, async () => {
    const others = await fetchProviders(deps);
    requireFree(name, others);
    if (others.length >= mostProviders)
      throw new AppError("conflict", `there are ${others.length} credential providers, and at most ${mostProviders}`);
    const created_at = new Date().toISOString();
    const priority = Math.min(10_000, Math.max(-1, ...others.map((other) => other.priority)) + 1);
    const provider = {
      ...{ id: newId(), name, ...place, enabled: true, priority, cache_ttl_seconds },
      ...{ projects, created_at, updated_at: created_at },
    };
    await createProviderSecret(provider, new Sensitive(token), deps);
    return provider;
  });
};

/** Throws `bad_request` and `not_supported_here`. A token is sent to no address that it was not given for. */
const requireChange = (before: ProviderAnswer, after: ProviderAnswer, given: UpdateProvider, deps: Deps): void => {
  const foreign = foreignFields(before.provider_type, given);
  if (foreign.length > 0) throw invalidInput(foreign);
  const place = placeOf(after.provider_type, after);
  if ("message" in place) throw invalidInput([place]);
  if (before.provider_type !== "vault" || given.address === undefined || given.address === before.address) return;
  requireAddress(given.address, deps);
  if (given.token === undefined) throw invalidInput([{ path: "token", message: "give that of the new address" }]);
};

/** Changes the given fields. Throws `not_found`, `bad_request`, `not_supported_here` and `name_taken`. */
export const updateProvider = async (id: string, request: UpdateProvider, deps: Deps): Promise<ProviderAnswer> => {
  const { token, ...given } = request;
  const name = given.name?.trim();
  requireProjects(given.projects, deps);
  return inTurn(deps, async () => {
    if (name !== undefined)
      requireFree(
        name,
        (await fetchProviders(deps)).filter((other) => other.id !== id),
      );
    const changes = Object.fromEntries(Object.entries({ ...given, name }).filter(([, value]) => value !== undefined));
    const change = (before: ProviderAnswer): ProviderAnswer => {
      const after = { ...before, ...changes, updated_at: new Date().toISOString() } as ProviderAnswer;
      requireChange(before, after, request, deps);
      return after;
    };
    const changed = { change, token: token === undefined ? undefined : new Sensitive(token) };
    const written = await changeProviderSecret(id, changed, deps);
    if (!written) throw new AppError("not_found", `no credential provider ${id}`);
    return providerAnswer(written);
  });
};

/** Deletes a provider with its token; connections that name it keep the name, and their logins fail. Throws `not_found`. */
export const deleteProvider = async (id: string, deps: ReadDeps): Promise<void> => {
  await deleteProviderSecret((await fetchProvider(id, deps)).id, deps);
};

/** The items of a provider, without values. Throws `not_found`, `unavailable`, and `conflict` when it is not let in. */
export const listProviderItems = async (
  id: string,
  deps: ReadDeps & { providerLookups: ProviderLookups },
): Promise<ProviderItem[]> => {
  const provider = await fetchProvider(id, deps);
  try {
    return await deps.providerLookups.items(provider);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const message = `the credential provider ${provider.name}: ${error.message}`;
    throw error.code === "credential_provider_unavailable"
      ? new AppError("unavailable", message, { retryAfterSeconds: 5 })
      : new AppError("conflict", message);
  }
};

/** Whether a provider's token may list its items, tried now. Throws `not_found`. */
export const testProvider = async (id: string, deps: ReadDeps & Pick<Deps, "secretsKeys">): Promise<ProviderTest> => {
  const provider = await fetchProvider(id, deps);
  try {
    const store = await openStore(provider, deps);
    await store.tryList();
    return { success: true, vaults: [{ id: store.place, name: store.place }] };
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    return { success: false, vaults: [], error: error.message };
  }
};

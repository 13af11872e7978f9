import { isDeepStrictEqual } from "node:util";
import type { ApiKeys, Principal } from "../../../core/api-keys/api-keys.ts";
import { fetchObject } from "../../../core/objects/fetch-object.ts";
import { newId } from "../../../core/objects/new-id.ts";
import type { Project, Projects } from "../../../core/projects/projects.ts";
import { originProblems, wideningProblems } from "../../../platform/addresses/allowed-origins.ts";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { fromWire } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { typeMeta } from "../../../platform/kube/resource-type.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { type AuthConnection, authConnectionKind } from "../connections/auth-connection.ts";
import { fetchCredentials } from "../credentials/credentials.ts";
import { type ItemAnswer, ItemSpec, type PutItem, type Vault, vaultKind } from "../vault.ts";
import { fetchVault } from "../vaults.ts";
import { type ItemEvents, noteItemEvent } from "./item-events.ts";
import { fetchItem, fetchItems, type ItemPath, itemAnswer } from "./items.ts";
import { withShape } from "./open-item.ts";
import { type CredentialSource, credentialSource, originLimits } from "./rules/item-source.ts";
import { itemState } from "./rules/item-state.ts";
import { type VaultItem, type VaultItemSpec, vaultItemKind } from "./vault-item.ts";

/** Items of a connection can't be edited (ITEM-30): always throws, `not_found` or `conflict`. */
export const refuseItemEdit = async (path: ItemPath, project: Project, deps: { kube: Kube }): Promise<never> => {
  await fetchItem(path, project, deps);
  throw new AppError(
    "conflict",
    "this item can't be edited: its values are changed through the credential of its connection; for another connection or description, delete it and create a new one",
  );
};

type Deps = {
  apiKeys: ApiKeys;
  itemEvents: ItemEvents;
  kube: Kube;
  locks: Locks;
  log: Logger;
  projects: Projects;
  secretsKeys: SecretsKeys;
};

const originsPath = "spec.allowed_origins";

const requireOrigins = ({ allowedOrigins }: VaultItemSpec): void => {
  const details = originProblems(allowedOrigins, originsPath);
  if (details.length > 0) throw invalidInput(details);
};

const isInOtherProject = async (id: string, { kube, projects }: Pick<Deps, "kube" | "projects">): Promise<boolean> => {
  const { items } = await kube.list(authConnectionKind, { fieldSelector: `metadata.name=${id}` });
  const namespaces = new Set(projects.list().map(({ namespace }) => namespace));
  return items.some(({ metadata }) => namespaces.has(metadata.namespace) && !metadata.deletionTimestamp);
};

/** Whether the id can be the name of an object; any other text could add conditions to a field selector. */
const isObjectName = (id: string): boolean => /^[a-z0-9.-]+$/.test(id);

const fetchOwnConnection = async (id: string, project: Project, deps: Deps): Promise<AuthConnection> => {
  const connection = await fetchObject(authConnectionKind, { id, project }, deps);
  if (connection) return connection;
  if (isObjectName(id) && (await isInOtherProject(id, deps)))
    throw new AppError("connection_in_other_project", `connection ${id} belongs to another project`);
  throw new AppError("not_found", `no auth connection ${id} in this project`);
};

/** Throws `bad_request` for an origin that the connection or its credential does not allow. */
const refuseWidening = (
  { allowedOrigins }: VaultItemSpec,
  connection: AuthConnection,
  source: CredentialSource,
): void => {
  const details = wideningProblems(allowedOrigins, originLimits(connection, source), originsPath);
  if (details.length > 0) throw invalidInput(details);
};

/** Fetches the connection and checks that it and its credential can serve an item (ITEM-23 to ITEM-26, ITEM-38). */
const requireUsable = async (spec: VaultItemSpec, project: Project, deps: Deps): Promise<void> => {
  const id = spec.connectionId;
  const connection = await fetchOwnConnection(id, project, deps);
  const source = credentialSource(connection, await fetchCredentials(project, deps));
  const state = itemState(await withShape(source, deps));
  if (state.status === "ready") return refuseWidening(spec, connection, source);
  if (state.reason === "external_credential")
    throw new AppError(
      "external_credential_provider",
      `the credential of connection ${id} is kept by an external provider, so it can't be filled in from here`,
    );
  throw new AppError("no_saved_credential", `connection ${id} has no saved credential with a value in it yet`);
};

/** Returns the item that already has the key if its spec is the wanted one, else throws `conflict`. */
const requireSame = (item: VaultItem, wanted: VaultItemSpec): VaultItem => {
  if (!isDeepStrictEqual({ ...item.spec }, { ...wanted }))
    throw new AppError(
      "conflict",
      `the item ${item.spec.key} exists with another spec, and items can't be edited: delete it first, or use another key`,
    );
  return item;
};

const createItem = (vault: Vault, spec: VaultItemSpec, { kube }: Deps): Promise<VaultItem> => {
  const { name, uid, namespace } = vault.metadata;
  const metadata = { name: newId(), namespace, ownerReferences: [{ ...typeMeta(vaultKind), name, uid }] };
  return kube.create(vaultItemKind, { metadata, spec });
};

const findOrCreate = async (
  vault: Vault,
  { spec, project }: { spec: VaultItemSpec; project: Project },
  deps: Deps,
): Promise<{ item: VaultItem; isNew: boolean }> => {
  const find = async (): Promise<VaultItem | undefined> =>
    (await fetchItems(vault, project, deps)).find((item) => item.spec.key === spec.key);
  const known = await find();
  if (known) return { item: requireSame(known, spec), isNew: false };
  await requireUsable(spec, project, deps);
  return deps.locks.hold(["item", vault.metadata.uid, spec.key], async () => {
    const rival = await find();
    if (rival) return { item: requireSame(rival, spec), isNew: false };
    return { item: await createItem(vault, spec, deps), isNew: true };
  });
};

/**
 * Returns the item with this key, or creates it; requests at the same time get the same item. Throws `not_found` for
 * the vault or the connection, `no_saved_credential`, `connection_in_other_project`, `external_credential_provider`,
 * and `conflict` for a key whose item has another spec.
 */
export const putItem = async (
  { path, request, principal }: { path: ItemPath; request: PutItem; principal: Principal },
  project: Project,
  deps: Deps,
): Promise<ItemAnswer> => {
  const vault = await fetchVault(path.vault, project, deps);
  const given = fromWire(ItemSpec, request.spec);
  const spec: VaultItemSpec = { ...given, vault: vault.metadata.name, key: path.key, type: request.type };
  requireOrigins(spec);
  const { item, isNew } = await findOrCreate(vault, { spec, project }, deps);
  if (isNew) await noteItemEvent(item, { type: "created", principal }, deps);
  return itemAnswer(item, project, deps);
};

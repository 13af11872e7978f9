import { z } from "zod";
import type { ApiKeys } from "../../core/api-keys/api-keys.ts";
import { isWanted, Paging, pageOf } from "../../core/http/paging.ts";
import { routesWith } from "../../core/http/route.ts";
import type { Logger } from "../../platform/base/log.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../platform/secrets/sealing.ts";
import { deleteVault } from "./delete-vault.ts";
import { EncryptionKeyAnswer, fetchEncryptionKey } from "./encryption/vault-key.ts";
import type { ItemEvents } from "./items/item-events.ts";
import { UpsertVault, VaultAnswer } from "./vault.ts";
import { fetchVault, fetchVaults, upsertVault, vaultAnswer } from "./vaults.ts";

type Deps = {
  apiKeys: ApiKeys;
  itemEvents: ItemEvents;
  kube: Kube;
  locks: Locks;
  log: Logger;
  secretsKeys: SecretsKeys;
};
const defineRoute = routesWith<Deps>();

const tag = "Vaults";
const scope = "project";
const path = "/vaults/{id_or_name}";

const VaultParams = z.object({ id_or_name: z.string().min(1).max(255).describe("The vault's id or name.") });
const theVault = { description: "The vault", schema: VaultAnswer };

export const upsertVaultRoute = defineRoute(
  {
    method: "post",
    path: "/vaults",
    operationId: "upsertVault",
    tag,
    scope,
    permission: "vaults:write",
    summary: "Create a vault, or get the one with this name",
    body: UpsertVault,
    examples: { body: { name: "team" } },
    answers: { 200: theVault },
    errors: ["bad_request"],
  },
  async ({ body, project, deps }) => ({ status: 200, body: await upsertVault(body, project, deps) }),
);

export const listVaultsRoute = defineRoute(
  {
    method: "get",
    path: "/vaults",
    operationId: "listVaults",
    tag,
    scope,
    permission: "vaults:read",
    summary: "List vaults",
    query: Paging.extend({
      name: z.string().max(255).optional().describe("Only the vault of exactly this name."),
      query: z.string().max(255).optional().describe("Part of the name in any case, or the exact id."),
    }),
    answers: { 200: { description: "The vaults", schema: z.array(VaultAnswer) } },
    errors: ["bad_request"],
  },
  async ({ query, project, deps }) => {
    const vaults = (await fetchVaults(project, deps)).filter((vault) =>
      isWanted({ id: vault.metadata.name, name: wireName(vault) }, query),
    );
    const page = pageOf(vaults, query);
    return { ...page, body: page.body.map(vaultAnswer) };
  },
);

export const getVaultRoute = defineRoute(
  {
    method: "get",
    path,
    operationId: "getVault",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Get a vault",
    params: VaultParams,
    answers: { 200: theVault },
    errors: ["not_found"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: vaultAnswer(await fetchVault(params.id_or_name, project, deps)),
  }),
);

export const getEncryptionKeyRoute = defineRoute(
  {
    method: "get",
    path: `${path}/encryption_key`,
    operationId: "getVaultEncryptionKey",
    tag,
    scope,
    permission: "vaults:read",
    summary: "Get the public key of a vault, to which a login can be encrypted",
    params: VaultParams,
    answers: { 200: { description: "The key; the first request makes it", schema: EncryptionKeyAnswer } },
    errors: ["not_found", "conflict"],
  },
  async ({ params, project, deps }) => ({
    status: 200,
    body: await fetchEncryptionKey(params.id_or_name, project, deps),
  }),
);

export const deleteVaultRoute = defineRoute(
  {
    method: "delete",
    path,
    operationId: "deleteVault",
    tag,
    scope,
    permission: "vaults:write",
    summary: "Delete a vault and its items; connections and credentials stay",
    params: VaultParams,
    answers: { 204: { description: "Done" } },
    errors: ["not_found"],
  },
  async ({ params, project, principal, deps }) => {
    await deleteVault(params.id_or_name, { project, principal }, deps);
    return { status: 204 };
  },
);

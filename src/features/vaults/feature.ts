import type { Feature } from "../../core/api/feature.ts";
import { wireId } from "../../platform/kinds/identity.ts";
import { type AuthConnection, authConnectionKind } from "./connections/auth-connection.ts";
import { connectionController } from "./connections/controller.ts";
import { connectionFlowRoutes } from "./connections/login-routes.ts";
import {
  createConnectionRoute,
  deleteConnectionRoute,
  getConnectionRoute,
  listConnectionsRoute,
  loginRoute,
  updateConnectionRoute,
} from "./connections/routes.ts";
import { vaultController } from "./controller.ts";
import { credentialController } from "./credentials/controller.ts";
import { credentialKind } from "./credentials/credential.ts";
import {
  createCredentialRoute,
  deleteCredentialRoute,
  getCredentialRoute,
  getTotpCodeRoute,
  listCredentialsRoute,
  updateCredentialRoute,
} from "./credentials/routes.ts";
import { itemController } from "./items/controller.ts";
import { runItemOperationRoute } from "./items/operation-routes.ts";
import {
  deleteItemRoute,
  getItemRoute,
  listItemEventsRoute,
  listItemsRoute,
  putItemRoute,
  updateItemRoute,
} from "./items/routes.ts";
import { type VaultItem, vaultItemKind } from "./items/vault-item.ts";
import { mountLogin } from "./login-page/mount-login.ts";
import { providerRoutes } from "./providers/routes.ts";
import { deleteVaultRoute, getEncryptionKeyRoute, getVaultRoute, listVaultsRoute, upsertVaultRoute } from "./routes.ts";
import { vaultKind } from "./vault.ts";

/** Stored logins, which are typed into pages and never given out. */
export const vaults = {
  kinds: [vaultKind, vaultItemKind, credentialKind, authConnectionKind],
  contents: [
    { kind: vaultKind, what: "vaults" },
    { kind: authConnectionKind, what: "auth connections", nameOf: wireId },
    { kind: credentialKind, what: "credentials" },
  ],
  announced: [
    { name: "vault", kind: vaultKind, permission: "vaults:read" },
    {
      name: "vault_item",
      kind: vaultItemKind,
      permission: "vaults:read",
      identify: (item: VaultItem) => ({ id: wireId(item), name: item.spec.key, vault_id: item.spec.vault }),
    },
    { name: "credential", kind: credentialKind, permission: "vaults:read" },
    {
      name: "auth_connection",
      kind: authConnectionKind,
      permission: "vaults:read",
      identify: (connection: AuthConnection) => ({ id: wireId(connection) }),
    },
  ],
  controllers: [vaultController, itemController, credentialController, connectionController],
  routes: [
    upsertVaultRoute,
    listVaultsRoute,
    getVaultRoute,
    getEncryptionKeyRoute,
    deleteVaultRoute,
    listItemsRoute,
    putItemRoute,
    getItemRoute,
    updateItemRoute,
    deleteItemRoute,
    listItemEventsRoute,
    runItemOperationRoute,
    createConnectionRoute,
    listConnectionsRoute,
    getConnectionRoute,
    updateConnectionRoute,
    deleteConnectionRoute,
    loginRoute,
    ...connectionFlowRoutes,
    createCredentialRoute,
    listCredentialsRoute,
    getCredentialRoute,
    updateCredentialRoute,
    deleteCredentialRoute,
    getTotpCodeRoute,
    ...providerRoutes,
  ],
  mount: mountLogin,
} satisfies Feature;

import type { Route } from "./route.ts";
import {
  createApiKeyRoute,
  deleteApiKeyRoute,
  getApiKeyRoute,
  listApiKeysRoute,
  rotateApiKeyRoute,
  updateApiKeyRoute,
} from "./routes/api-keys.ts";
import { connectionFlowRoutes } from "./routes/auth-connection-flow.ts";
import {
  createConnectionRoute,
  deleteConnectionRoute,
  getConnectionRoute,
  listConnectionsRoute,
  loginRoute,
  updateConnectionRoute,
} from "./routes/auth-connections.ts";
import {
  acquireRoute,
  createPoolRoute,
  deletePoolRoute,
  flushRoute,
  getPoolRoute,
  listPoolsRoute,
  releaseRoute,
  updatePoolRoute,
} from "./routes/browser-pools.ts";
import {
  createBrowserRoute,
  deleteBrowserRoute,
  getBrowserRoute,
  listBrowsersRoute,
  updateBrowserRoute,
} from "./routes/browsers.ts";
import {
  createCredentialRoute,
  deleteCredentialRoute,
  getCredentialRoute,
  getTotpCodeRoute,
  listCredentialsRoute,
  updateCredentialRoute,
} from "./routes/credentials.ts";
import { runItemOperationRoute } from "./routes/item-operations.ts";
import {
  getOrganizationLimitsRoute,
  getProjectLimitsRoute,
  updateOrganizationLimitsRoute,
  updateProjectLimitsRoute,
} from "./routes/limits.ts";
import {
  createProjectRoute,
  deleteProjectRoute,
  getProjectRoute,
  listProjectsRoute,
  updateProjectRoute,
} from "./routes/projects.ts";
import {
  deleteItemRoute,
  getItemRoute,
  listItemEventsRoute,
  listItemsRoute,
  putItemRoute,
  updateItemRoute,
} from "./routes/vault-items.ts";
import { deleteVaultRoute, getVaultRoute, listVaultsRoute, upsertVaultRoute } from "./routes/vaults.ts";

/** Every operation of the API, in the order of the documentation. */
export const routeTable: Route[] = [
  createPoolRoute,
  listPoolsRoute,
  getPoolRoute,
  updatePoolRoute,
  deletePoolRoute,
  acquireRoute,
  releaseRoute,
  flushRoute,
  createBrowserRoute,
  listBrowsersRoute,
  getBrowserRoute,
  updateBrowserRoute,
  deleteBrowserRoute,
  upsertVaultRoute,
  listVaultsRoute,
  getVaultRoute,
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
  createProjectRoute,
  listProjectsRoute,
  getProjectRoute,
  updateProjectRoute,
  deleteProjectRoute,
  getProjectLimitsRoute,
  updateProjectLimitsRoute,
  getOrganizationLimitsRoute,
  updateOrganizationLimitsRoute,
  createApiKeyRoute,
  listApiKeysRoute,
  getApiKeyRoute,
  updateApiKeyRoute,
  deleteApiKeyRoute,
  rotateApiKeyRoute,
];

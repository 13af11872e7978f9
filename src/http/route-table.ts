import type { Route } from "./route.ts";
import {
  createApiKeyRoute,
  deleteApiKeyRoute,
  getApiKeyRoute,
  listApiKeysRoute,
  rotateApiKeyRoute,
  updateApiKeyRoute,
} from "./routes/api-keys.ts";
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

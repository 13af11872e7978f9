import type { Route } from "../http/route.ts";
import {
  createApiKeyRoute,
  deleteApiKeyRoute,
  getApiKeyRoute,
  listApiKeysRoute,
  rotateApiKeyRoute,
  updateApiKeyRoute,
} from "./api-keys.ts";
import { listAuditLinesRoute } from "./audit.ts";
import { getAuthContextRoute } from "./auth-context.ts";
import {
  acquireRoute,
  createPoolRoute,
  deletePoolRoute,
  flushRoute,
  getPoolRoute,
  listPoolEventsRoute,
  listPoolQueueRoute,
  listPoolsRoute,
  releaseRoute,
  updatePoolRoute,
} from "./browser-pools.ts";
import {
  createBrowserRoute,
  deleteBrowserRoute,
  getBrowserRoute,
  listBrowsersRoute,
  updateBrowserRoute,
} from "./browsers.ts";
import { getEntitlementsRoute } from "./entitlements.ts";
import {
  getOrganizationLimitsRoute,
  getProjectLimitsRoute,
  updateOrganizationLimitsRoute,
  updateProjectLimitsRoute,
} from "./limits.ts";
import {
  createProjectRoute,
  deleteProjectRoute,
  getProjectRoute,
  listProjectsRoute,
  updateProjectRoute,
} from "./projects.ts";

/** Operations of pools and sessions, in the order of the documentation. */
export const sessionRoutes: readonly Route[] = [
  createPoolRoute,
  listPoolsRoute,
  getPoolRoute,
  updatePoolRoute,
  deletePoolRoute,
  acquireRoute,
  releaseRoute,
  flushRoute,
  listPoolQueueRoute,
  listPoolEventsRoute,
  createBrowserRoute,
  listBrowsersRoute,
  getBrowserRoute,
  updateBrowserRoute,
  deleteBrowserRoute,
];

/** Operations of the organization. */
export const organizationRoutes: readonly Route[] = [
  createProjectRoute,
  listProjectsRoute,
  getProjectRoute,
  updateProjectRoute,
  deleteProjectRoute,
  getProjectLimitsRoute,
  updateProjectLimitsRoute,
  getOrganizationLimitsRoute,
  updateOrganizationLimitsRoute,
  getEntitlementsRoute,
  getAuthContextRoute,
  createApiKeyRoute,
  listApiKeysRoute,
  getApiKeyRoute,
  updateApiKeyRoute,
  deleteApiKeyRoute,
  rotateApiKeyRoute,
  listAuditLinesRoute,
];

/**
 * The features of the service. What each of them adds is in its folder of src/features; the programs, the generators of
 * documents and the tests go through this list.
 */
import type { Announced } from "../core/api/announced.ts";
import { organizationRoutes, sessionRoutes } from "../core/api/core-routes.ts";
import type { Feature } from "../core/api/feature.ts";
import type { Route } from "../core/http/route.ts";
import { browserKind } from "../core/model/browsers/browser.ts";
import { browserPoolKind } from "../core/model/pools/browser-pool.ts";
import { coreContents, type ProjectContents } from "../core/projects/delete-project.ts";
import { auditLogs } from "../features/audit-logs/feature.ts";
import { code } from "../features/code/feature.ts";
import { computer } from "../features/computer/feature.ts";
import { console } from "../features/console/feature.ts";
import { curl } from "../features/curl/feature.ts";
import { devTools } from "../features/dev-tools/feature.ts";
import { events } from "../features/events/feature.ts";
import { extensions } from "../features/extensions/feature.ts";
import { files } from "../features/files/feature.ts";
import { liveView } from "../features/live-view/feature.ts";
import { logs } from "../features/logs/feature.ts";
import { processes } from "../features/processes/feature.ts";
import { profiles } from "../features/profiles/feature.ts";
import { proxies } from "../features/proxies/feature.ts";
import type { ProxyProvider } from "../features/proxies/rules/proxy-provider.ts";
import { recordings } from "../features/recordings/feature.ts";
import { sites } from "../features/sites/feature.ts";
import { telemetry } from "../features/telemetry/feature.ts";
import { vaults } from "../features/vaults/feature.ts";
import { webDriver } from "../features/webdriver/feature.ts";
import { webmcp } from "../features/webmcp/feature.ts";
import type { NetworkFilter } from "../platform/addresses/network-filter.ts";
import type { BlobStore } from "../platform/blobs/blob-store.ts";
import type { AnyKind } from "../platform/kinds/kind.ts";
import type { ServiceDeps } from "./service-deps.ts";

/** What the rounds of their controllers need. */
export type ControllerParts = { blobs: BlobStore; proxyProvider: ProxyProvider; destinationFilter: NetworkFilter };

/** In the order of the documentation. What is made of the objects of another feature comes after it. */
export const features: readonly Feature<ServiceDeps, ControllerParts>[] = [
  events,
  logs,
  files,
  computer,
  curl,
  devTools,
  webDriver,
  code,
  webmcp,
  processes,
  recordings,
  liveView,
  profiles,
  proxies,
  telemetry,
  vaults,
  extensions,
  sites,
  auditLogs,
  console,
];

/** Every kind, in the order in which their CRDs are installed. */
export const kinds: readonly AnyKind[] = [
  browserPoolKind,
  browserKind,
  ...features.flatMap((feature) => feature.kinds ?? []),
];

/** Every operation of the API, in the order of the documentation. */
export const routes: readonly Route<ServiceDeps>[] = [
  ...sessionRoutes,
  ...features.flatMap((feature) => feature.routes ?? []),
  ...organizationRoutes,
];

/** What an empty project has none of, in the order in which it is deleted: what is made of others first. */
export const contents: readonly ProjectContents[] = [
  ...coreContents,
  ...features.toReversed().flatMap((feature) => feature.contents ?? []),
];

/** The kinds of features of which the events of a project tell. */
export const announced: readonly Announced[] = features.flatMap((feature) => feature.announced ?? []);

/** The controllers of objects that stand for themselves. */
export const controllers = features.flatMap((feature) => feature.controllers ?? []);

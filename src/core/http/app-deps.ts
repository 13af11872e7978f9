import type { KeyObject } from "node:crypto";
import type { AuditLog } from "../../platform/audit/audit-log.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { IdempotentAnswers } from "../../platform/redis/idempotent-answers.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import type { Config } from "../config/config.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import type { CallerLimits } from "../projects/caller-limits.ts";
import type { Projects } from "../projects/projects.ts";
import type { Health } from "./ops/health.ts";
import type { Scrapeable } from "./ops/ops-app.ts";

/** What serving requests needs of the services, whatever is asked for. */
export type HttpServices = {
  apiKeys: ApiKeys;
  browsers: WatchedObjects<Browser>;
  callerLimits: CallerLimits;
  config: Config;
  metrics: ApiMetrics;
  pools: WatchedObjects<BrowserPool>;
  projects: Projects;
  signingKey: KeyObject;
  store: LeaseStore;
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined;
  verifyKey: KeyObject;
};

/** The dependencies of the HTTP API. `Services`: also the dependencies of the use cases that it serves. */
export type AppDeps<Services = HttpServices> = {
  services: Services;
  answers: IdempotentAnswers;
  audit: AuditLog;
  health: Health;
  /** The metrics for `/metrics`; this port serves them only when there is no ops port. */
  registry: Scrapeable;
  /** Aborted when the time for open requests is over; waiting callers get its reason as their error. */
  stopping: AbortSignal;
  /** Aborted when this replica begins to stop: streams end then, since they would hold it up. */
  draining: AbortSignal;
  log: Logger;
};

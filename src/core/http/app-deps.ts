import type { AuditLog } from "../../platform/audit/audit-log.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { IdempotentAnswers } from "../../platform/redis/idempotent-answers.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { Health } from "./ops/health.ts";
import type { Scrapeable } from "./ops/mount-ops.ts";

/** The dependencies of the HTTP API, with those of the use cases. */
export type AppDeps = {
  services: ServiceDeps;
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

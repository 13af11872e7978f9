import type { Logger } from "../log.ts";
import type { IdempotentAnswers } from "../redis/idempotent-answers.ts";
import type { ServiceDeps } from "../services/service-deps.ts";
import type { Health } from "./ops/health.ts";
import type { Scrapeable } from "./ops/mount-ops.ts";

/** What the HTTP side works with, beside the use cases' own parts. */
export type AppDeps = {
  services: ServiceDeps;
  answers: IdempotentAnswers;
  health: Health;
  /** What `/metrics` shows; served here only where there is no ops port. */
  registry: Scrapeable;
  /** Aborted when the time for open requests is over; its reason is what waiting callers are told. */
  stopping: AbortSignal;
  log: Logger;
};

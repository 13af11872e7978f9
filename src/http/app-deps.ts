import type { IdempotentAnswers } from "../leases/idempotent-answers.ts";
import type { Logger } from "../log.ts";
import type { ServiceDeps } from "../services/service-deps.ts";

/** What the HTTP side works with, beside the use cases' own parts. */
export type AppDeps = {
  services: ServiceDeps;
  answers: IdempotentAnswers;
  /** Aborted when the service begins to stop; its reason is what waiting callers are told. */
  stopping: AbortSignal;
  log: Logger;
};

import express, { type ErrorRequestHandler, type Express } from "express";
import { AppError } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import type { Config } from "../../config/config.ts";
import { answerError, asAppError } from "../middleware/error-answer.ts";
import { checkHost } from "../middleware/host-check.ts";
import type { Health } from "./health.ts";

// Health and metrics of a process for its administrators.

/** The part of prom-client's registry that is used here. */
export type Scrapeable = { contentType: string; metrics(): Promise<string> };

/** `/livez`: the process answers. */
export const mountLiveness = (app: Express): void => {
  app.get("/livez", (_request, response) => {
    response.json({ status: "ok" });
  });
};

/** `/readyz`: the process has started, is not stopping, and its parts answer. */
export const mountReadiness = (app: Express, health: Health): void => {
  app.get("/readyz", async (_request, response) => {
    const parts = { ...(await health.parts()), running: health.isRunning() };
    const isReady = Object.values(parts).every(Boolean);
    if (!isReady) response.set("Retry-After", "1");
    response.status(isReady ? 200 : 503).json({ status: isReady ? "ok" : "unavailable", ...parts });
  });
};

/** `/metrics`, in the text format of Prometheus. */
export const mountMetrics = (app: Express, registry: Scrapeable): void => {
  app.get("/metrics", async (request, response) => {
    response.type(registry.contentType);
    if (request.method === "HEAD") response.end();
    else response.send(await registry.metrics());
  });
};

export type OpsDeps = {
  config: Config;
  health: Health;
  registry: Scrapeable;
  /** Mounts further pages. */
  mountPages?: (app: Express) => void;
  log: Logger;
};

/**
 * Probes and metrics on their own port, which need not be open to callers. The kubelet and Prometheus use the pod's IP,
 * so BROWSERPOOL_ALLOWED_HOSTS must contain it. The caller lets a server listen.
 */
export const createOpsApp = ({ config, health, registry, mountPages, log }: OpsDeps): Express => {
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", false);
  app.use((request, _response, next) => {
    checkHost(request.headers, config);
    next();
  });
  mountLiveness(app);
  mountReadiness(app, health);
  mountMetrics(app, registry);
  mountPages?.(app);
  app.use((request) => {
    throw new AppError("not_found", `there is nothing at ${request.method} ${request.path.slice(0, 200)}`);
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) =>
    answerError(response, asAppError(error, log));
  app.use(onError);
  return app;
};

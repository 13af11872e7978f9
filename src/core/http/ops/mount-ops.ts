/** Health and metrics of a process for its administrators. */
import type { Express } from "express";
import type { Health } from "./health.ts";

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

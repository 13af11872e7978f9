import type { Express } from "express";
import type { AppDeps } from "./app-deps.ts";

/** Deadline of one probe of a part, ms: below the usual time-out of a readiness probe. */
const probeTimeoutMs = 1000;

const within = async (probe: Promise<boolean>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), probeTimeoutMs);
  try {
    return await Promise.race([probe.catch(() => false), promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** `/livez`: the process answers. `/readyz`: it can serve: Redis and the API server answer, and it is not stopping. `/metrics`. */
export const mountHealth = (app: Express, { services, stopping }: AppDeps): void => {
  const { kube, store, metrics } = services;
  app.get("/livez", (_request, response) => {
    response.json({ status: "ok" });
  });
  app.get("/readyz", async (_request, response) => {
    const [redis, kubernetes] = await Promise.all([within(store.ping().then(() => true)), within(kube.ready())]);
    const parts = { redis, kubernetes, running: !stopping.aborted };
    const isReady = Object.values(parts).every(Boolean);
    if (!isReady) response.set("Retry-After", "1");
    response.status(isReady ? 200 : 503).json({ status: isReady ? "ok" : "unavailable", ...parts });
  });
  app.get("/metrics", async (_request, response) => {
    response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
};

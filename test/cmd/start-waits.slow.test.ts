/**
 * Processes that start while Kubernetes and Redis are away: they wait, report that they are not ready, and continue.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApi } from "../../src/cmd/api.ts";
import { startOperator } from "../../src/cmd/operator.ts";
import { type Config, readConfig } from "../../src/core/config/config.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { freePort } from "../../src/local/free-port.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { type BreakableLink, kubeconfigBehindLink, startBreakableLink } from "../support/breakable-link.ts";
import { sharedServers } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger("silent", "test");

let config: Config;
let kubeconfigPath: string;
let links: BreakableLink[];
const parts = new AsyncDisposableStack();

beforeAll(async () => {
  const servers = await sharedServers();
  const behind = parts.use(await kubeconfigBehindLink(servers.kubeconfigPath));
  const redisUrl = new URL(servers.redisUrl);
  const redis = await startBreakableLink(Number(redisUrl.port));
  parts.defer(() => redis.close());
  redisUrl.port = String(redis.port);
  links = [behind.link, redis];
  kubeconfigPath = behind.path;
  config = readConfig({
    REDIS_URL: redisUrl.href,
    BROWSERPOOL_PORT: "0",
    BROWSERPOOL_OPS_PORT: String(await freePort("127.0.0.1")),
    BROWSERPOOL_SYSTEM_NAMESPACE: `system-${newId()}`,
    BROWSERPOOL_STOP_GRACE_SECONDS: "0.1",
  });
});
afterAll(() => parts.disposeAsync());

const get = (path: string) => fetch(`http://127.0.0.1:${config.opsPort}${path}`);

const starts = { api: startApi, operator: startOperator };

describe.each(Object.entries(starts))("an %s that starts while Kubernetes and Redis are away", (_, start) => {
  test("lives, is not ready until both are back, and then serves", async () => {
    for (const link of links) link.freeze();
    const starting = start({ config, kubeconfigPath }, log);
    await eventually("it lives", async () => (await get("/livez").catch(() => undefined))?.ok);
    const answer = await get("/readyz");
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: "unavailable", redis: false, kubernetes: false, running: false },
    ]);
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain('browserpool_dependency_up{part="redis"} 0');
    expect(metrics).toContain('browserpool_dependency_up{part="kubernetes"} 0');

    for (const link of links) link.thaw();
    const running = await starting;
    expect((await get("/readyz")).status).toBe(200);
    await running.stop();
    await expect(get("/livez")).rejects.toThrow();
  });

  test("ends when it is told to, and leaves no port open", async () => {
    for (const link of links) link.freeze();
    const stop = new AbortController();
    const starting = start({ config, kubeconfigPath, signal: stop.signal }, log);
    await eventually("it lives", async () => (await get("/livez").catch(() => undefined))?.ok);
    stop.abort();
    await expect(starting).rejects.toThrow();
    await expect(get("/livez")).rejects.toThrow();
    for (const link of links) link.thaw();
  });
});

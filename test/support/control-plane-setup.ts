/**
 * One control plane and one Redis for a whole test run, started when the first test requests them: a run of pure tests starts
 * nothing. Tests run in other processes and ask over a socket (`control-plane.ts`).
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { connectKube } from "../../src/kube/client.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger } from "../../src/log.ts";
import type { SharedServers } from "./control-plane.ts";

type Running = { servers: SharedServers; stop(): Promise<void> };

const establishCrds = async (kubeconfigPath: string): Promise<void> => {
  const kube = connectKube({ kubeconfigPath });
  await installCrds(kube).finally(() => kube.close());
};

const start = async (dataDir: string): Promise<Running> => {
  const options = { dataDir, programs: locatePrograms(process.env), log: createLogger("warn", "test") };
  const plane = await startControlPlane({ ...options, unsafeNoFsync: true });
  const redis = await startRedis(options);
  await establishCrds(plane.kubeconfigPath);
  return {
    servers: { kubeconfigPath: plane.kubeconfigPath, redisUrl: redis.url },
    async stop() {
      await Promise.all([plane.stop(), redis.stop()]);
    },
  };
};

/** vitest calls this before the first test, and the function that it returns after the last one. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const dataDir = await mkdtemp(join(tmpdir(), "browserpool-test-"));
  let running: Promise<Running> | undefined;
  const server = createServer((_request, response) => {
    running ??= start(dataDir);
    running.then(
      ({ servers }) => response.end(JSON.stringify(servers)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const socketPath = join(dataDir, "setup.sock");
  server.listen(socketPath);
  await once(server, "listening");
  project.provide("setupSocket", socketPath);
  return async () => {
    server.close();
    await running?.then((servers) => servers.stop()).catch(() => undefined);
    await rm(dataDir, { recursive: true, force: true });
  };
};

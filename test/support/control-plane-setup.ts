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
import { crdsSettled, installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger } from "../../src/log.ts";
import type { SharedServers } from "./control-plane.ts";

/** What the tests ask for, by its path. */
export type SetupAnswers = { "/servers": SharedServers; "/control-plane-data": string };

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

/**
 * Leaves in a folder what a control plane has that was started once, with the CRDs established and settled. A start on a copy of
 * it has nothing to make anew and nothing to wait for.
 */
const makeControlPlaneData = async (dataDir: string): Promise<string> => {
  const log = createLogger("warn", "test");
  const plane = await startControlPlane({ dataDir, programs: locatePrograms(process.env), log, unsafeNoFsync: true });
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath });
  try {
    await installCrds(kube);
    await crdsSettled(kube);
  } finally {
    await kube.close();
    await plane.stop();
  }
  return dataDir;
};

/** vitest calls this before the first test, and the function that it returns after the last one. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const dataDir = await mkdtemp(join(tmpdir(), "browserpool-test-"));
  let running: Promise<Running> | undefined;
  let data: Promise<string> | undefined;
  const answers: { [Path in keyof SetupAnswers]: () => Promise<SetupAnswers[Path]> } = {
    "/servers": async () => {
      running ??= start(join(dataDir, "shared"));
      return (await running).servers;
    },
    "/control-plane-data": () => {
      data ??= makeControlPlaneData(join(dataDir, "data"));
      return data;
    },
  };
  const server = createServer((request, response) => {
    answers[request.url as keyof SetupAnswers]().then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  // Every program that tests start finds its code compiled by the ones before.
  process.env.NODE_COMPILE_CACHE ??= join(dataDir, "compile-cache");
  const socketPath = join(dataDir, "setup.sock");
  server.listen(socketPath);
  await once(server, "listening");
  project.provide("setupSocket", socketPath);
  return async () => {
    server.close();
    await running?.then((servers) => servers.stop()).catch(() => undefined);
    await data?.catch(() => undefined);
    // The last programs to end still write their compiled code.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
};

/**
 * What the tests of a run share: one control plane and one Redis, and for each worker an installation. Each is started
 * when the first test requests it, so a run of pure tests starts nothing. Tests run in other processes and ask over a
 * socket (`control-plane.ts`).
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import type { Connection } from "../../src/local/connection-file.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { crdsSettled, installCrds } from "../../src/local/install-crds.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { startRedis } from "../../src/local/redis.ts";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube } from "../../src/platform/kube/client.ts";
import type { SharedServers } from "./control-plane.ts";
import { copyControlPlaneData } from "./control-plane-data.ts";
import { type LocalMode, startLocalMode } from "./local-mode.ts";
import { sharedSettings } from "./shared-settings.ts";

/** An installation that files of one worker use, one after the other. */
export type Installation = Connection & { dataDir: string };

/** What the tests ask for, by its path. An installation's is followed by the number of the worker. */
export type SetupAnswers = {
  "/servers": SharedServers;
  "/control-plane-data": string;
  "/installation": Installation;
};

/**
 * What runs already and is used instead: runs one after the other in copies of the tree share it
 * (test/mutations/servers.ts).
 */
export type GivenServers = { servers: SharedServers; controlPlaneData: string };

const readGiven = ({ TEST_SERVERS: text }: NodeJS.ProcessEnv): GivenServers | undefined =>
  text ? (JSON.parse(text) as GivenServers) : undefined;

type Running = { servers: SharedServers; stop(): Promise<void> };

/**
 * Resolves when every kind is served, and a creation takes no longer than later ones: users of the servers wait for
 * neither.
 */
const establishCrds = async (kubeconfigPath: string): Promise<void> => {
  const kube = connectKube({ kubeconfigPath });
  try {
    await installCrds(kube);
    await crdsSettled(kube);
  } finally {
    await kube.close();
  }
};

/** Starts etcd, kube-apiserver and Redis with the CRDs of `crds/`; their data is in `dataDir`. */
export const startServers = async (dataDir: string): Promise<Running> => {
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
 * Leaves in a folder what a control plane has that was started once, with the CRDs established and settled. A start on
 * a copy of it has nothing to make anew and nothing to wait for.
 */
export const makeControlPlaneData = async (dataDir: string): Promise<string> => {
  const log = createLogger("warn", "test");
  const plane = await startControlPlane({ dataDir, programs: locatePrograms(process.env), log, unsafeNoFsync: true });
  await establishCrds(plane.kubeconfigPath).finally(() => plane.stop());
  return dataDir;
};

/** An installation for each worker. One that has ended is replaced: what ended it has failed its own test. */
const createInstallations = (folder: string, controlPlaneData: () => Promise<string>) => {
  const running = new Map<string, Promise<LocalMode>>();
  let started = 0;
  const start = async (): Promise<LocalMode> => {
    started += 1;
    const dataDir = join(folder, `installation-${started}`);
    await copyControlPlaneData(await controlPlaneData(), dataDir);
    return startLocalMode({ dataDir, env: sharedSettings });
  };
  const hasEnded = async (local: Promise<LocalMode> | undefined): Promise<boolean> => {
    const child = await local?.then(({ process }) => process).catch(() => undefined);
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  };
  return {
    async of(worker: string): Promise<Installation> {
      if (await hasEnded(running.get(worker))) running.set(worker, start());
      const { url, api_key, kubeconfig, redis_url, pid, dataDir } = (await running.get(worker)) as LocalMode;
      return { url, api_key, kubeconfig, redis_url, pid, dataDir };
    },
    async stop(): Promise<void> {
      await Promise.allSettled([...running.values()].map(async (local) => (await local).stop()));
    },
  };
};

/** vitest calls this before the first test, and the function that it returns after the last one. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const dataDir = await mkdtemp(join(tmpdir(), "browserpool-test-"));
  let running: Promise<Running> | undefined;
  let data: Promise<string> | undefined;
  const given = readGiven(process.env);
  const controlPlaneData = async (): Promise<string> => {
    if (given) return given.controlPlaneData;
    data ??= makeControlPlaneData(join(dataDir, "data"));
    return data;
  };
  const installations = createInstallations(dataDir, controlPlaneData);
  const answers: { [Path in keyof SetupAnswers]: (worker: string) => Promise<SetupAnswers[Path]> } = {
    "/servers": async () => {
      if (given) return given.servers;
      running ??= startServers(join(dataDir, "shared"));
      return (await running).servers;
    },
    "/control-plane-data": controlPlaneData,
    "/installation": installations.of,
  };
  const server = createServer((request, response) => {
    const [path, worker = ""] = (request.url ?? "").split("?");
    answers[path as keyof SetupAnswers](worker).then(
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
    await installations.stop();
    await data?.catch(() => undefined);
    // The last programs to end still write their compiled code.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
};

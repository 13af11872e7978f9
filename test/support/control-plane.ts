/** The servers that all tests of a run share. Tests use namespaces and Redis keys of their own. */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { namespaces } from "../../src/platform/kube/resource-type.ts";
import { copyControlPlaneData } from "./control-plane-data.ts";
import type { Installation, SetupAnswers } from "./control-plane-setup.ts";

declare module "vitest" {
  interface ProvidedContext {
    setupSocket: string;
  }
}

/** `redisUrl` contains a password. The CRDs of `crds/` are established. */
export type SharedServers = { kubeconfigPath: string; redisUrl: string };

const ask = <Path extends keyof SetupAnswers>(path: Path, worker = ""): Promise<SetupAnswers[Path]> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: inject("setupSocket"), path: `${path}?${worker}` }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(`${path} did not start: ${answer}`));
      }, reject);
    });
    asked.once("error", reject);
    asked.end();
  });

/** Real etcd, kube-apiserver and redis-server; the first call of a run starts them, which takes some seconds. */
export const sharedServers = (): Promise<SharedServers> => ask("/servers");

/**
 * The running local mode of this worker: the first call of a worker starts it. Tests use a project of their own in it.
 */
export const sharedInstallation = (): Promise<Installation> => ask("/installation", process.env.VITEST_POOL_ID);

/**
 * Makes `dataDir` that of a control plane which ran before and has the CRDs of `crds/`: its next start is quicker than
 * a first one. Outside of vitest it stays as it is.
 */
export const prepareDataDir = async (dataDir: string): Promise<void> => {
  if (!process.env.VITEST) return;
  await copyControlPlaneData(await ask("/control-plane-data"), dataDir);
};

type TestNamespace = { name: string; projectId: string };

/**
 * Makes a new project with its namespace. Nothing removes namespaces: the whole control plane is removed after the run.
 */
export const testNamespace = async (kube: Kube): Promise<TestNamespace> => {
  const projectId = newId();
  const name = `test-${projectId}`;
  await kube.create(namespaces, { metadata: { name, labels: { "browserpool.dev/project": projectId } } });
  return { name, projectId };
};

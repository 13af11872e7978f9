/** The servers that all tests of a run share. Tests use namespaces and Redis keys of their own. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { inject } from "vitest";
import type { Kube } from "../../src/kube/client.ts";
import { namespaces } from "../../src/kube/resource-type.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import type { SetupAnswers } from "./control-plane-setup.ts";

declare module "vitest" {
  interface ProvidedContext {
    setupSocket: string;
  }
}

/** `redisUrl` contains a password. The CRDs of `crds/` are established. */
export type SharedServers = { kubeconfigPath: string; redisUrl: string };

const ask = <Path extends keyof SetupAnswers>(path: Path): Promise<SetupAnswers[Path]> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: inject("setupSocket"), path }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(`a control plane did not start: ${answer}`));
      }, reject);
    });
    asked.once("error", reject);
    asked.end();
  });

/** Real etcd, kube-apiserver and redis-server; the first call of a run starts them, which takes some seconds. */
export const sharedServers = (): Promise<SharedServers> => ask("/servers");

/**
 * Makes `dataDir` that of a control plane which ran before and has the CRDs of `crds/`: its next start is quicker than a first one.
 * Outside of vitest it stays as it is.
 */
export const prepareDataDir = async (dataDir: string): Promise<void> => {
  if (!process.env.VITEST) return;
  const from = join(await ask("/control-plane-data"), "etcd");
  await mkdir(dataDir, { recursive: true });
  // etcd reserves space that it has not written to.
  await promisify(execFile)("cp", ["--recursive", "--sparse=always", from, dataDir]);
};

export type TestNamespace = { name: string; projectId: string };

/** Makes a new project with its namespace. Nothing removes namespaces: the whole control plane is removed after the run. */
export const testNamespace = async (kube: Kube): Promise<TestNamespace> => {
  const projectId = newId();
  const name = `test-${projectId}`;
  await kube.create(namespaces, { metadata: { name, labels: { "browserpool.dev/project": projectId } } });
  return { name, projectId };
};

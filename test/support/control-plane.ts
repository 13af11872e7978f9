/** The servers that all tests of a run share. Tests use namespaces and Redis keys of their own. */
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import type { Kube } from "../../src/kube/client.ts";
import { namespaces } from "../../src/kube/resource-type.ts";
import { newId } from "../../src/services/objects/new-id.ts";

declare module "vitest" {
  interface ProvidedContext {
    setupSocket: string;
  }
}

/** `redisUrl` contains a password. The CRDs of `crds/` are established. */
export type SharedServers = { kubeconfigPath: string; redisUrl: string };

/** Real etcd, kube-apiserver and redis-server. The first call of a run starts them, which takes some seconds. */
export const sharedServers = (): Promise<SharedServers> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: inject("setupSocket") }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(`the shared control plane did not start: ${answer}`));
      }, reject);
    });
    asked.once("error", reject);
    asked.end();
  });

export type TestNamespace = { name: string; projectId: string };

/** Makes a new project with its namespace. Nothing removes namespaces: the whole control plane is removed after the run. */
export const testNamespace = async (kube: Kube): Promise<TestNamespace> => {
  const projectId = newId();
  const name = `test-${projectId}`;
  await kube.create(namespaces, { metadata: { name, labels: { "browserpool.dev/project": projectId } } });
  return { name, projectId };
};

/** The service under a test: a running installation, and a project of it that is empty when the test begins. */
import { readFileSync } from "node:fs";
import { connectKube, type Kube } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { pods, type ResourceType } from "../../src/kube/resource-type.ts";
import { authConnectionKind } from "../../src/resources/auth-connection.ts";
import { credentialKind } from "../../src/resources/credential.ts";
import { extensionKind } from "../../src/resources/extension.ts";
import { profileKind } from "../../src/resources/profile.ts";
import { proxyKind } from "../../src/resources/proxy.ts";
import { telemetryDestinationKind } from "../../src/resources/telemetry-destination.ts";
import { vaultKind } from "../../src/resources/vault.ts";
import { newId } from "../../src/services/objects/new-id.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { sharedInstallation } from "./control-plane.ts";
import { eventually } from "./eventually.ts";

/** The address of a running service and the rights of the test. */
type Address = {
  url: string;
  /** In a shared installation a key of the test's project; the clients have one of the organization. */
  api_key: string;
  kubeconfig: string;
  /** The namespace of the test's project. */
  namespace: string;
};

export type Stack = Address & Clients & AsyncDisposable & { kube: Kube };

/** A project in the installation of this worker: its files are at hand. */
type LocalProject = Stack & {
  /** The project's id, which is also the name of its namespace. */
  project: string;
  /** The data directory of the installation. */
  dataDir: string;
  redis_url: string;
};

/** A session of a pool that is being deleted may end meanwhile. */
const unlessGone = (error: { status?: number }): void => {
  if (error.status !== 404) throw error;
};

/** Removes all pools and on-demand browsers, also those in use. */
const endBrowsers = async ({ kernel, kube, namespace }: Pick<Stack, "kernel" | "kube" | "namespace">) => {
  for await (const { id } of kernel.browserPools.list())
    await kernel.browserPools.delete(id, { force: true }).catch(unlessGone);
  for await (const { session_id } of kernel.browsers.list())
    await kernel.browsers.deleteByID(session_id).catch(unlessGone);
  await eventually("no browser is left", async () => {
    const { items } = await kube.list(pods, { namespace, labelSelector: "app.kubernetes.io/name=browserpool-browser" });
    return items.length === 0;
  });
};

/** A service that already runs. When the stack is disposed of, the service stays, without browsers in its default project. */
export const connectStack = (address: Address): Stack => {
  const kube = connectKube({ kubeconfigPath: address.kubeconfig });
  const stack = { ...address, ...clientsOf(address), kube };
  return {
    ...stack,
    async [Symbol.asyncDispose]() {
      await endBrowsers(stack);
      await kube.close();
    },
  };
};

/** What a project may have beside browsers: what refers to others first. */
const otherKinds: readonly ResourceType<KubeObject>[] = [
  authConnectionKind,
  vaultKind,
  credentialKind,
  profileKind,
  extensionKind,
  proxyKind,
  telemetryDestinationKind,
];

/** Deletes all that is in the project, and the project, which the API refuses while anything is left. */
const removeProject = async (stack: Omit<LocalProject, typeof Symbol.asyncDispose>): Promise<void> => {
  const { kernel, kube, namespace, project } = stack;
  await endBrowsers(stack);
  for (const kind of otherKinds)
    for (const { metadata } of (await kube.list(kind, { namespace })).items)
      await kube.delete(kind, { namespace, name: metadata.name });
  let refused = "";
  await eventually(
    () => `project ${project} is empty: ${refused}`,
    () =>
      kernel.projects.delete(project).then(
        () => true,
        (error: Error) => {
          refused = error.message;
          return false;
        },
      ),
  );
};

/** A new project in the installation of this worker. Disposing removes the project; the installation stays for the next file. */
const startProject = async (): Promise<LocalProject> => {
  const { url, api_key: organizationKey, kubeconfig, redis_url, dataDir } = await sharedInstallation();
  const { kernel } = clientsOf({ url, api_key: organizationKey });
  const { id: project } = await kernel.projects.create({ name: `test ${newId()}` });
  const { key: api_key } = await kernel.apiKeys.create({ name: "test", project_id: project });
  const kube = connectKube({ kubeconfigPath: kubeconfig });
  const clients = clientsOf({ url, api_key: organizationKey }, project);
  const stack = { url, api_key, kubeconfig, redis_url, dataDir, project, namespace: project, kube, ...clients };
  return {
    ...stack,
    async [Symbol.asyncDispose]() {
      try {
        await removeProject(stack);
      } finally {
        await kube.close();
      }
    },
  };
};

/**
 * A project of this worker's installation. If the variable names a file with an `Address`, uses that service instead: so the cluster
 * tests run the same tests against their installation.
 */
export const startStack = async (): Promise<Stack> => {
  const file = process.env.BROWSERPOOL_TEST_ADDRESS_FILE;
  return file ? connectStack(JSON.parse(readFileSync(file, "utf8")) as Address) : startProject();
};

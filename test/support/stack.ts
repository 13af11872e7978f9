/** The service under a test: a running installation, and a project of it that is empty when the test begins. */
import { readFileSync } from "node:fs";
import { newId } from "../../src/core/objects/new-id.ts";
import { connectKube, type Kube } from "../../src/platform/kube/client.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { sharedInstallation } from "./control-plane.ts";
import type { Installation } from "./control-plane-setup.ts";
import { describeProject } from "./describe-project.ts";
import { emptyInstallation, endBrowsers } from "./empty-installation.ts";
import { explainWith } from "./eventually.ts";

/** The address of a running service and the rights of the test. */
type Address = {
  url: string;
  /** In a shared installation a key of the test's project; the clients have one of the organization. */
  api_key: string;
  kubeconfig: string;
  /** The namespace of the test's project. */
  namespace: string;
};

export type Stack = Address &
  Clients &
  AsyncDisposable & {
    /**
     * For calls that no project's key may make. Without the header of a project, they are about the default project.
     */
    organization_key: string;
    kube: Kube;
  };

/** A project in the installation of this worker, with what is at hand on this machine. */
export type LocalProject = Stack &
  Pick<Installation, "dataDir" | "redis_url" | "pid"> & {
    /** The project's id, which is also the name of its namespace. */
    project: string;
  };

/**
 * A service that already runs. When the stack is disposed of, the service stays, without browsers in its default
 * project.
 */
export const connectStack = (address: Address): Stack => {
  const kube = connectKube({ kubeconfigPath: address.kubeconfig });
  const clients = clientsOf(address);
  return {
    ...address,
    ...clients,
    organization_key: address.api_key,
    kube,
    async [Symbol.asyncDispose]() {
      await endBrowsers({ kube, kernelOf: () => clients.kernel }, address.namespace);
      await kube.close();
    },
  };
};

/**
 * A new project in the installation of this worker, one at a time. Disposing empties the installation, also of what is
 * in no project or in others that the test made: the next file finds nothing of it.
 */
export const startProject = async (): Promise<LocalProject> => {
  const { url, api_key: organization_key, kubeconfig, redis_url, dataDir, pid } = await sharedInstallation();
  const organization = { url, api_key: organization_key };
  const { kernel } = clientsOf(organization);
  const { id: project } = await kernel.projects.create({ name: `test ${newId()}` });
  const { key: api_key } = await kernel.apiKeys.create({ name: "test", project_id: project });
  const kube = connectKube({ kubeconfigPath: kubeconfig });
  explainWith(() => describeProject(kube, project));
  return {
    ...{ url, api_key, organization_key, kubeconfig, redis_url, dataDir, pid, project, namespace: project, kube },
    ...clientsOf(organization, project),
    async [Symbol.asyncDispose]() {
      explainWith();
      try {
        await emptyInstallation({ kube, kernelOf: (namespace) => clientsOf(organization, namespace).kernel });
      } finally {
        await kube.close();
      }
    },
  };
};

/**
 * A project of this worker's installation. If the variable names a file with an `Address`, uses that service instead:
 * so the cluster tests run the same tests against their installation.
 */
export const startStack = async (): Promise<Stack> => {
  const file = process.env.BROWSERPOOL_TEST_ADDRESS_FILE;
  return file ? connectStack(JSON.parse(readFileSync(file, "utf8")) as Address) : startProject();
};

/** The service under an end-to-end test. */
import { readFileSync } from "node:fs";
import { connectKube, type Kube } from "../../src/kube/client.ts";
import { pods } from "../../src/kube/resource-type.ts";
import { type Clients, clientsOf } from "./clients.ts";
import { eventually } from "./eventually.ts";
import { startLocalStack } from "./local-stack.ts";

/** The address of a running service and the rights of the test. */
export type Address = {
  url: string;
  api_key: string;
  kubeconfig: string;
  /** The namespace of the default project. */
  namespace: string;
};

export type Stack = Address & Clients & AsyncDisposable & { kube: Kube };

/** A session of a pool that is being deleted may end meanwhile. */
const unlessGone = (error: { status?: number }): void => {
  if (error.status !== 404) throw error;
};

/** Removes all pools and on-demand browsers, also those in use, so that the next test finds an empty project, as in local mode. */
const emptyProject = async ({ kernel, kube, namespace }: Omit<Stack, typeof Symbol.asyncDispose>): Promise<void> => {
  for await (const { id } of kernel.browserPools.list()) await kernel.browserPools.delete(id, { force: true });
  for await (const { session_id } of kernel.browsers.list())
    await kernel.browsers.deleteByID(session_id).catch(unlessGone);
  await eventually("no browser is left", async () => {
    const { items } = await kube.list(pods, { namespace, labelSelector: "app.kubernetes.io/name=browserpool-browser" });
    return items.length === 0;
  });
};

/** A service that already runs. When the stack is disposed of, the service stays, with an empty default project. */
export const connectStack = (address: Address): Stack => {
  const kube = connectKube({ kubeconfigPath: address.kubeconfig });
  const stack = { ...address, ...clientsOf(address), kube };
  return {
    ...stack,
    async [Symbol.asyncDispose]() {
      await emptyProject(stack);
      await kube.close();
    },
  };
};

/**
 * Starts local mode for the test. If the variable names a file with an `Address`, uses that service instead: so the cluster
 * tests run the same tests against their installation.
 */
export const startStack = async (): Promise<Stack> => {
  const file = process.env.BROWSERPOOL_TEST_ADDRESS_FILE;
  if (file) return connectStack(JSON.parse(readFileSync(file, "utf8")) as Address);
  return { ...(await startLocalStack()), namespace: "default" };
};

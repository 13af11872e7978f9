/** What `browserpool doctor --cluster` looks at: the objects of an installation, and what comes of its use. */
import type { Variables } from "../../platform/base/environment.ts";
import { connectKube } from "../../platform/kube/client.ts";
import { givenService } from "../service.ts";
import { callerChecks } from "./caller.ts";
import { type Check, skipped } from "./finding.ts";
import { type Installation, installationChecks } from "./installation.ts";

const untried: Check = {
  name: "service",
  find: async () => skipped("not tried: set KERNEL_BASE_URL and KERNEL_API_KEY"),
};

type Use = {
  env: Readonly<Variables>;
  /** Acquired from; left out, a pool is made. */
  pool: string | undefined;
  say(line: string): void;
  signal: AbortSignal;
};

/**
 * The checks of an installation in the cluster of the kubeconfig, or of the pod's service account, which can be made
 * until `stack` is disposed of. Throws where there is neither.
 */
export const clusterChecks = (
  place: Installation,
  { env, pool, say, signal }: Use,
  stack: AsyncDisposableStack,
): Check[] => {
  const kube = connectKube();
  stack.defer(() => kube.close());
  const service = givenService(env);
  const use = service ? callerChecks({ kube, place, service, pool, say }, signal) : [untried];
  return [...installationChecks(kube, place), ...use];
};

/** What `browserpool doctor --cluster` looks at: the objects of an installation, and what comes of its use. */
import type { Variables } from "../../platform/base/environment.ts";
import { connectKube } from "../../platform/kube/client.ts";
import { CommandError } from "../service.ts";
import { callerChecks } from "./caller.ts";
import { type Check, skipped } from "./finding.ts";
import { type Installation, installationChecks } from "./installation.ts";

const untried: Check = {
  name: "service",
  find: async () => skipped("not tried: set KERNEL_BASE_URL and KERNEL_API_KEY"),
};

const connect = () => {
  try {
    return connectKube();
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
};

type Use = {
  env: Readonly<Variables>;
  /** Acquired from; left out, a pool is made. */
  pool: string | undefined;
  say(line: string): void;
  signal: AbortSignal;
};

/**
 * The checks of an installation in the cluster of the kubeconfig, or of the pod's service account; `close` when they
 * have been made. Throws a CommandError where there is neither.
 */
export const clusterChecks = (
  place: Installation,
  { env, pool, say, signal }: Use,
): { checks: Check[]; close: () => Promise<void> } => {
  const kube = connect();
  const { KERNEL_BASE_URL: url, KERNEL_API_KEY: key } = env;
  const service = url && key ? { url: url.replace(/\/+$/, ""), key: key.trim() } : undefined;
  const use = service ? callerChecks({ kube, place, service, pool, say }, signal) : [untried];
  return { checks: [...installationChecks(kube, place), ...use], close: () => kube.close() };
};

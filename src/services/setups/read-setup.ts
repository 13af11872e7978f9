import { configHash } from "../../domain/browser-config.ts";
import { onDemandPoolSpec } from "../../domain/on-demand-pool.ts";
import type { BrowserSetup, NetworkSetup } from "../../protocol/browser-setup.ts";
import type { SetupRequest } from "../../redis/setup-requests.ts";
import { browserKind } from "../../resources/browser.ts";
import { type BrowserPoolSpec, browserPoolKind } from "../../resources/browser-pool.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube" | "policies">;

/** A setup can't be made now; the message says why, to the owner of the pool. */
export class SetupFailure extends Error {}

/** The object's spec as that of a pool; undefined when the object is gone or is another one by now. */
const specOf = async (
  { kind, namespace, name, uid }: SetupRequest,
  { kube }: Deps,
): Promise<BrowserPoolSpec | undefined> => {
  if (kind === "Browser") {
    const browser = await kube.get(browserKind, { namespace, name });
    return browser?.metadata.uid === uid ? onDemandPoolSpec(browser.spec) : undefined;
  }
  const pool = await kube.get(browserPoolKind, { namespace, name });
  return pool?.metadata.uid === uid ? pool.spec : undefined;
};

const policyOf = async (
  { chromePolicy, chromePolicyRef }: BrowserPoolSpec,
  namespace: string,
  { policies }: Deps,
): Promise<Record<string, unknown> | undefined> => {
  if (!chromePolicyRef) return chromePolicy;
  const policy = await policies.read(namespace, chromePolicyRef);
  if (!policy) throw new SetupFailure("parts of its Chrome policy are missing (chromePolicyRef)");
  return policy;
};

const networkOf = async ({ network, proxyId }: BrowserPoolSpec): Promise<NetworkSetup | undefined> => {
  if (!network && proxyId === undefined) return undefined;
  return {
    ...(network?.allowedHosts && { allowed_hosts: network.allowedHosts }),
    ...(network?.privateHosts && { private_hosts: network.privateHosts }),
    routes: [],
    proxies: [],
  };
};

/**
 * Reads what the browser of this request needs: policies from their ConfigMaps, proxies with their Secrets. `outdated`: its pod was made
 * for another configuration than its object has now. Throws `SetupFailure`.
 */
export const readSetup = async (request: SetupRequest, deps: Deps): Promise<BrowserSetup | "outdated"> => {
  const spec = await specOf(request, deps);
  if (!spec || configHash(spec) !== request.config) return "outdated";
  const policy = await policyOf(spec, request.namespace, deps);
  const network = await networkOf(spec);
  return { ...(policy && { policy }), ...(network && { network }), extensions: [] };
};

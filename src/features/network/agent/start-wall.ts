import type { AgentConfig } from "../../../core/agent/agent-config.ts";
import type { Wall } from "../../../core/agent/browser-parts.ts";
import type { NetworkSetup } from "../../../core/protocol/browser-setup.ts";
import { createResolveName, type ResolveName, withMachineNames } from "../../../platform/net/resolve-name.ts";
import { startForwardProxy } from "./forward-proxy.ts";
import { createWayOut } from "./way-out.ts";

/** Hosts whose addresses are kept. */
const maxReached = 1000;

/** Whether this is a name of the tests (`AgentConfig.exampleAddress`). */
const isExample = (host: string): boolean => host.endsWith(".example");

const resolverOf = ({ dnsServers, exampleAddress, ownPorts }: AgentConfig): ResolveName => {
  const byDns = createResolveName(dnsServers);
  const resolve = ownPorts ? withMachineNames(byDns) : byDns;
  if (exampleAddress === undefined) return resolve;
  return async (host) => (isExample(host) ? [exampleAddress] : resolve(host));
};

/**
 * The way out of a browser with a network namespace: a proxy on the socket at `path` that follows the rules of
 * `network`. Left out: nothing is forbidden but the service's own ports, in local mode.
 */
export const startWall = async (
  path: string,
  network: NetworkSetup | undefined,
  config: AgentConfig,
): Promise<Wall & AsyncDisposable> => {
  const resolveName = resolverOf(config);
  const reached = new Map<string, string>();
  const onReached = (host: string, address: string): void => {
    reached.delete(host);
    reached.set(host, address);
    const [oldest] = reached.keys();
    if (reached.size > maxReached && oldest !== undefined) reached.delete(oldest);
  };
  const wayOutBy = (rules: NetworkSetup | undefined) =>
    createWayOut(rules, resolveName, { ownPorts: config.ownPorts, onReached });
  const proxy = await startForwardProxy(path, wayOutBy(network));
  return {
    prepare(rules, options) {
      const wayOut = wayOutBy(rules);
      return () => proxy.use(wayOut, options);
    },
    addressOf: (host) => reached.get(host),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
};

import { createResolveName, type ResolveName } from "../../net/resolve-name.ts";
import type { NetworkSetup } from "../../protocol/browser-setup.ts";
import type { AgentConfig } from "../agent-config.ts";
import { startForwardProxy } from "./forward-proxy.ts";
import { createWayOut } from "./way-out.ts";

type Wall = {
  /** Returns the function by which connections follow these rules, and all that are open are cut. */
  prepare(network: NetworkSetup): () => void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Whether this is a name of the tests (`AgentConfig.exampleAddress`). */
const isExample = (host: string): boolean => host.endsWith(".example");

const resolverOf = ({ dnsServers, exampleAddress }: AgentConfig): ResolveName => {
  const resolve = createResolveName(dnsServers);
  if (exampleAddress === undefined) return resolve;
  return async (host) => (isExample(host) ? [exampleAddress] : resolve(host));
};

/** The way out of a browser with a wall: a proxy on the socket at `path` that follows the rules of `network`. */
export const startWall = async (path: string, network: NetworkSetup, config: AgentConfig): Promise<Wall> => {
  const resolveName = resolverOf(config);
  const proxy = await startForwardProxy(path, createWayOut(network, resolveName));
  return {
    prepare(rules) {
      const wayOut = createWayOut(rules, resolveName);
      return () => proxy.use(wayOut);
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
};

/** A registry of this machine that kind's nodes reach by the same name as this machine does: `localhost:<port>`. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { type LocalRegistry, startLocalRegistry } from "../../../scripts/release/local-registry.ts";
import { splice } from "../../../src/platform/cdp/splice.ts";
import type { Lane } from "../lane.ts";

/** Address of this machine in the network of kind's nodes. */
const gatewayOf = async ({ run }: Lane): Promise<string> => {
  const all = await run(
    "docker",
    "network",
    "inspect",
    "kind",
    "--format",
    "{{range .IPAM.Config}}{{.Gateway}} {{end}}",
  );
  const address = all.split(" ").find((one) => one.includes("."));
  if (address === undefined) throw new Error(`kind's network has no IPv4 address of this machine: ${all}`);
  return address;
};

/** Passes connections of the nodes on to the registry, which listens on loopback alone. */
const forward = async (address: string, port: number): Promise<AsyncDisposable> => {
  const server = createServer((near) => splice(near, connect(port, "127.0.0.1"))).listen(port, address);
  await once(server, "listening");
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
};

/** Starts it, empty. */
export const startNodeRegistry = async (lane: Lane, stack: AsyncDisposableStack): Promise<LocalRegistry> => {
  const { run, cluster, folder, signal } = lane;
  const registry = stack.use(await startLocalRegistry(join(folder, "registry"), { signal }));
  const gateway = await gatewayOf(lane);
  stack.use(await forward(gateway, registry.port));
  const mirror = `/etc/containerd/certs.d/${registry.name}`;
  const hosts = `[host."http://${gateway}:${registry.port}"]`;
  const nodes = (await run("kind", "get", "nodes", "--name", cluster.kindName ?? "")).split("\n").filter(Boolean);
  for (const node of nodes)
    await run("docker", "exec", node, "sh", "-c", `mkdir -p ${mirror} && echo '${hosts}' > ${mirror}/hosts.toml`);
  return registry;
};

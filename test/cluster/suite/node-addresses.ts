/** Addresses that no test machine has. On kind a node can be given some, and the other nodes are told the way. */
import { nodes } from "../../../src/platform/kube/resource-type.ts";
import type { Lane } from "../lane.ts";

/** Of the clouds' metadata services. */
export const metadataAddress = "169.254.169.254";

/** TEST-NET-3 (RFC 5737): public, and nobody's. */
export const publicAddress = "203.0.113.10";

/** Gives addresses to the node of the control plane, which takes no browsers. Disposing of it takes them back. */
export const giveAddresses = async (
  { run, kube }: Lane,
  hosts: readonly string[],
): Promise<{ node: string } & AsyncDisposable> => {
  await using stack = new AsyncDisposableStack();
  const all = (await kube.list(nodes)).items;
  const isControlPlane = ({ metadata }: (typeof all)[number]) =>
    "node-role.kubernetes.io/control-plane" in (metadata.labels ?? {});
  const server = all.find(isControlPlane);
  if (!server) throw new Error("no control plane node");
  const node = server.metadata.name;
  const via = server.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
  const on = async (name: string, ...args: string[]) => void (await run("docker", "exec", name, "ip", ...args));
  for (const host of hosts) {
    await on(node, "address", "replace", `${host}/32`, "dev", "lo");
    stack.defer(() => on(node, "address", "del", `${host}/32`, "dev", "lo"));
    for (const { metadata } of all.filter((one) => !isControlPlane(one))) {
      await on(metadata.name, "route", "replace", `${host}/32`, "via", via);
      stack.defer(() => on(metadata.name, "route", "del", `${host}/32`, "via", via));
    }
  }
  const kept = stack.move();
  return { node, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

import { pods as podType } from "../../../src/platform/kube/resource-type.ts";
import { choose } from "../../support/simulated-node/switches.ts";
import type { Fault } from "./fault.ts";

/**
 * Some pods are evicted as a drain does it, by the API server: those in use have minutes to end, and nobody ends for it
 * before.
 */
export const podDrain: Fault = {
  parts: ["agents"],
  lengthMs: [0, 2000],
  async run({ topology: { kube, namespace }, random, hold, begin }) {
    // Another fault may have the API server away just now.
    const { items } = await kube.list(podType, { namespace }).catch(() => ({ items: [] }));
    const candidates = items.map((pod) => ({ pod, uid: pod.metadata.uid ?? "", pool: undefined }));
    const share = random.pick([0.1, 0.3, 0.6]);
    const chosen = choose(candidates, { share, seed: random.int(1, 2 ** 30) });
    begin({ pods: chosen.map(({ uid }) => uid) });
    for (const { pod } of chosen) {
      const { name, uid } = pod.metadata;
      const deleteOptions = { preconditions: { uid } };
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, deleteOptions };
      await kube.createSubresource(podType, pod.metadata, "eviction", eviction).catch(() => undefined);
    }
    await hold();
  },
};

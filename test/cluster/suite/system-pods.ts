import type { Pod } from "../../../src/platform/kube/objects.ts";
import { pods } from "../../../src/platform/kube/resource-type.ts";
import { type Lane, systemNamespace } from "../lane.ts";

/** The pods of the service that stay; `component`: `api`, `operator` or `redis`. */
export const systemPods = async ({ kube }: Lane, component: string): Promise<Pod[]> => {
  const labelSelector = `app.kubernetes.io/component=${component}`;
  const { items } = await kube.list(pods, { namespace: systemNamespace, labelSelector });
  return items.filter(({ metadata }) => !metadata.deletionTimestamp);
};

/** One of them. */
export const systemPod = async (lane: Lane, component: string): Promise<Pod | undefined> =>
  (await systemPods(lane, component))[0];

import type { Pod } from "../../../src/kube/objects.ts";
import { pods } from "../../../src/kube/resource-type.ts";
import { type Lane, systemNamespace } from "../lane.ts";

/** A pod of the service; `component`: `api`, `operator` or `redis`. */
export const systemPod = async ({ kube }: Lane, component: string): Promise<Pod | undefined> => {
  const labelSelector = `app.kubernetes.io/component=${component}`;
  const { items } = await kube.list(pods, { namespace: systemNamespace, labelSelector });
  return items[0];
};

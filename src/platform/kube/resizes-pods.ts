import type { Kube } from "./client.ts";

/** Whether this API server resizes pods in place, as Kubernetes 1.33 and newer do. Throws a `KubeError`. */
export const resizesPods = async (kube: Pick<Kube, "resources">): Promise<boolean> =>
  (await kube.resources("v1")).some(({ name }) => name === "pods/resize");

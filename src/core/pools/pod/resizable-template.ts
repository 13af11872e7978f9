import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { resizesPods } from "../../../platform/kube/resizes-pods.ts";
import type { PodTemplate } from "./pod-template.ts";

/**
 * The template as this API server can carry it out: where it resizes no pods (before Kubernetes 1.33), `idleCpu` is left
 * out, so pods ask from their start for what they need in use. The log says so. Throws a `KubeError`.
 */
export const resizableTemplate = async (
  template: PodTemplate | undefined,
  { kube, log }: { kube: Pick<Kube, "resources">; log: Logger },
): Promise<PodTemplate | undefined> => {
  if (template?.idleCpu === undefined) return template;
  if (await resizesPods(kube)) return template;
  log.warn("this API server resizes no pods: idle browsers ask for as much of the processor as those in use");
  const { idleCpu: _, ...rest } = template;
  return rest;
};

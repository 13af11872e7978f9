import type { Pod } from "../../../platform/kube/objects.ts";
import { agentEnd } from "./pod-state.ts";

/**
 * What the operator keeps of a pod in its memory: the fields that the loop reads. The environment, volumes and tolerations of a browser's
 * pod are most of its size, and 10,000 of them were most of the operator's memory.
 */
export const keptPod = ({ metadata, spec, status }: Pod): Pod => ({
  metadata,
  ...(spec && {
    spec: {
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      containers: spec.containers.map(({ name, image }) => ({ name, ...(image !== undefined && { image }) })),
    },
  }),
  ...(status && {
    status: {
      ...(status.phase !== undefined && { phase: status.phase }),
      ...(status.podIP !== undefined && { podIP: status.podIP }),
      ...(status.reason !== undefined && { reason: status.reason }),
      ...(status.message !== undefined && { message: status.message }),
      ...(status.conditions && { conditions: status.conditions }),
      // Containers are read of a pod whose agent has ended.
      ...(agentEnd({ status }) && { containerStatuses: status.containerStatuses }),
    },
  }),
});

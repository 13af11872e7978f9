/**
 * The fields of a pod's spec that a process can implement. A pod with other fields is refused with a reason, since it
 * would run differently than under a kubelet. Image, resources, security context and `emptyDir` volumes are ignored: a
 * process uses the machine's own.
 */
import type { Pod } from "../../platform/kube/objects.ts";

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];

const unsupportedVolume = (spec: PodSpec): string | undefined => spec.volumes?.find((volume) => !volume.emptyDir)?.name;

const unsupportedVariable = (container: Container): string | undefined =>
  container.env?.find(
    ({ valueFrom }) =>
      valueFrom && !valueFrom.secretKeyRef && !supportedFields.has(valueFrom.fieldRef?.fieldPath ?? ""),
  )?.name;

/** The pod's fields that can be the source of a variable. */
const supportedFields = new Set(["metadata.name", "metadata.namespace", "metadata.uid", "status.podIP"]);

const containerRefusal = (container: Container): string | undefined => {
  if (container.command?.length) return "a container with a command of its own";
  if (container.envFrom?.length) return "envFrom";
  if (container.livenessProbe || container.startupProbe) return "a liveness or startup probe";
  if (container.lifecycle) return "lifecycle hooks";
  if (container.readinessProbe && !container.readinessProbe.httpGet) return "a readiness probe other than httpGet";
  const variable = unsupportedVariable(container);
  return variable && `the source of the variable ${variable}`;
};

/** Why this pod can't run as a process, or undefined when it can. */
export const whyUnsupported = ({ spec }: Pick<Pod, "spec">): string | undefined => {
  const [container, ...others] = spec?.containers ?? [];
  if (!spec || !container || others.length > 0) return "a number of containers other than one";
  if (spec.initContainers?.length) return "init containers";
  if (spec.restartPolicy !== "Never") return `restartPolicy ${spec.restartPolicy}`;
  const volume = unsupportedVolume(spec);
  return volume ? `the volume ${volume}` : containerRefusal(container);
};

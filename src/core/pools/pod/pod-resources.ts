/**
 * What a browser's pod asks of its node and is limited to. The template's container says it for headless browsers; for
 * headful ones the template has memory of its own, by the `memory` of their pool. With `idleCpu` a pod asks for that
 * much of the processor while its browser is idle, and for the template's request while it is in use
 * (plan/cpu-requests.ts).
 */
import type { NewObject, Pod } from "../../../platform/kube/objects.ts";
import { quantityOf } from "../../../platform/kube/quantity.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import { agentName } from "./agent-name.ts";

type Container = NonNullable<Pod["spec"]>["containers"][number];
type Resources = NonNullable<Container["resources"]>;

/** The pool's `memory` in Kubernetes' notation. */
const memoryLimit = { "8GiB": "8Gi", "16GiB": "16Gi" } as const;

/** What a template (pod-template.ts) says of resources. */
type PodTemplate = {
  spec?: { containers?: { name: string; resources?: object | undefined }[] | undefined } | undefined;
  memory?: { [memory in keyof typeof memoryLimit]?: string | undefined } | undefined;
  memoryRequests?: PodTemplate["memory"];
  idleCpu?: string | undefined;
};

type Sized = Pick<BrowserPool["spec"], "headless" | "memory">;

const resourcesInTemplate = (template: PodTemplate | undefined): Resources =>
  template?.spec?.containers?.find(({ name }) => name === agentName)?.resources ?? {};

/** The resources that the operator sets itself in the container of the agent; the others are the template's. */
export const resourcesOf = (
  { headless, memory }: Sized,
  template: PodTemplate | undefined,
): { resources?: Resources } => {
  const request = template?.memoryRequests?.[memory];
  const requests = {
    ...(template?.idleCpu !== undefined && { cpu: template.idleCpu }),
    ...(!headless && request !== undefined && { memory: request }),
  };
  const limits = headless ? undefined : { memory: template?.memory?.[memory] ?? memoryLimit[memory] };
  const resources = { ...(Object.keys(requests).length > 0 && { requests }), ...(limits && { limits }) };
  return Object.keys(resources).length > 0 ? { resources } : {};
};

/** `above`: what must not be below `value`; each as the template's field and its text. */
const aboveLimit = (value: [string, string | undefined], above: [string, string | undefined]): string[] => {
  const [number, most] = [quantityOf(value[1] ?? ""), quantityOf(above[1] ?? "")];
  if (number === undefined || most === undefined || number <= most) return [];
  return [`${value[0]}: ${value[1]} is above ${above[1]}, the value of ${above[0]}`];
};

const container = `spec.containers (${agentName}) resources`;

const memoryFaults = (template: PodTemplate): string[] => {
  const { requests, limits } = resourcesInTemplate(template);
  return (["8GiB", "16GiB"] as const)
    .flatMap((memory) => {
      const own = template.memoryRequests?.[memory];
      const limit: [string, string] = [`memory.${memory}`, template.memory?.[memory] ?? memoryLimit[memory]];
      // Without one of its own, a headful browser has the request of all.
      return own === undefined
        ? aboveLimit([`${container}.requests.memory`, requests?.memory], limit)
        : [
            ...(quantityOf(own) === undefined ? [`memoryRequests.${memory}: ${own} is no quantity`] : []),
            ...aboveLimit([`memoryRequests.${memory}`, own], limit),
          ];
    })
    .concat(
      aboveLimit([`${container}.requests.memory`, requests?.memory], [`${container}.limits.memory`, limits?.memory]),
    );
};

/**
 * A resize may not change a pod's QoS class: with a request as high as the limit, a pod whose memory is so, too, would
 * become Guaranteed.
 */
const cpuFaults = ({ idleCpu, ...template }: PodTemplate): string[] => {
  const { requests, limits } = resourcesInTemplate(template);
  const request: [string, string | undefined] = [`${container}.requests.cpu`, requests?.cpu];
  const faults = aboveLimit(request, [`${container}.limits.cpu`, limits?.cpu]);
  if (idleCpu === undefined) return faults;
  if (quantityOf(idleCpu) === undefined) return [...faults, `idleCpu: ${idleCpu} is no quantity`];
  if (requests?.cpu === undefined) return [...faults, `idleCpu: needs ${request[0]}, for browsers in use`];
  const isAtLimit = limits?.cpu !== undefined && quantityOf(limits.cpu) === quantityOf(requests.cpu);
  return [
    ...faults,
    ...aboveLimit(["idleCpu", idleCpu], request),
    ...(isAtLimit ? [`idleCpu: needs ${container}.limits.cpu above ${request[0]}, or none`] : []),
  ];
};

/** Requests of the template that no pod can have, each as a sentence with the field's name; pure. */
export const resourceFaults = (template: PodTemplate): string[] => [...memoryFaults(template), ...cpuFaults(template)];

/** Annotations on a pod: the processor that it asks for while its browser is idle, and while it is in use. */
const cpuAnnotations = { idle: "browserpool.dev/idle-cpu", inUse: "browserpool.dev/in-use-cpu" } as const;

/** The annotations of a new pod that say so; none without `idleCpu`. */
export const cpuNotes = (template: PodTemplate | undefined): Record<string, string> => {
  const inUse = resourcesInTemplate(template).requests?.cpu;
  if (template?.idleCpu === undefined || inUse === undefined) return {};
  return { [cpuAnnotations.idle]: template.idleCpu, [cpuAnnotations.inUse]: inUse };
};

/** The processor that the pod asks for, and what it should ask for; undefined for a pod that asks for the same always. */
export const cpuOf = (
  { metadata, spec }: Pick<NewObject<Pod>, "metadata" | "spec">,
  isInUse: boolean,
): { present: string; wanted: string } | undefined => {
  const present = spec?.containers.find(({ name }) => name === agentName)?.resources?.requests?.cpu;
  const wanted = metadata.annotations?.[isInUse ? cpuAnnotations.inUse : cpuAnnotations.idle];
  return present === undefined || wanted === undefined ? undefined : { present, wanted };
};

/** Whether two texts are the same amount. */
export const isSameAmount = (one: string, other: string): boolean =>
  one === other || quantityOf(one) === quantityOf(other);

/** The part of a pod's spec that says what it asks for: a strategic merge patch of its subresource `resize`. */
export const cpuPatch = (cpu: string): object => ({
  containers: [{ name: agentName, resources: { requests: { cpu } } }],
});

/** What of a container's resources the loop reads. */
export const keptResources = (
  metadata: Pod["metadata"],
  { name, resources }: Container,
): Pick<Container, "resources"> => {
  const cpu = resources?.requests?.cpu;
  if (name !== agentName || cpu === undefined || !metadata.annotations?.[cpuAnnotations.idle]) return {};
  return { resources: { requests: { cpu } } };
};

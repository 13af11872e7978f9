/**
 * What a browser's pod asks of its node and is limited to. The template's container says it for headless browsers; for
 * headful ones the template has memory of its own, by the `memory` of their pool.
 */
import type { Pod } from "../../../platform/kube/objects.ts";
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
  const requests = headless || request === undefined ? undefined : { memory: request };
  const limits = headless ? undefined : { memory: template?.memory?.[memory] ?? memoryLimit[memory] };
  return { ...(limits && { resources: { ...(requests && { requests }), limits } }) };
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

const cpuFaults = (template: PodTemplate): string[] => {
  const { requests, limits } = resourcesInTemplate(template);
  return aboveLimit([`${container}.requests.cpu`, requests?.cpu], [`${container}.limits.cpu`, limits?.cpu]);
};

/** Requests of the template that no pod can have, each as a sentence with the field's name; pure. */
export const resourceFaults = (template: PodTemplate): string[] => [...memoryFaults(template), ...cpuFaults(template)];

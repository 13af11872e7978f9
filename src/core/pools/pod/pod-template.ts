/**
 * What an installation adds to browser pods: resources, security contexts, volumes, placement. The template is an
 * incomplete pod: in the container `agent`, and in everything that makes a pod the browser of a pool, the operator's
 * own fields win.
 */
import { z } from "zod";
import { checkValue } from "../../../platform/kinds/check-value.ts";
import type { NewObject, Pod } from "../../../platform/kube/objects.ts";
import { BrowserPoolSpec } from "../../model/pools/browser-pool.ts";
import { agentName } from "./agent-name.ts";
import { resourceFaults } from "./pod-resources.ts";

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];

const texts = z.record(z.string(), z.string());
/** YAML reads an amount such as `1` as a number. */
const amount = z.union([z.string().min(1), z.number().transform(String)]);
const amounts = z.record(z.string(), amount);
/** Not checked here: the API server checks them when it creates a pod. */
const fields = z.looseObject({});
const list = z.array(fields);
const named = z.array(z.looseObject({ name: z.string().min(1) }));

/** The fields that decide where a pod may run; a region can add to them. */
const placement = { nodeSelector: texts, tolerations: list, affinity: fields, topologySpreadConstraints: list };

const agentFields = z.looseObject({
  name: z.string().min(1),
  env: named.optional(),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  resources: z.looseObject({ limits: amounts.optional(), requests: amounts.optional() }).optional(),
  securityContext: fields.optional(),
  volumeMounts: named.optional(),
});

/** Every field of a pod's spec is listed here, so the operator finds a misspelt name when it starts. */
const specFields = {
  ...placement,
  activeDeadlineSeconds: z.int().min(1),
  automountServiceAccountToken: z.boolean(),
  containers: z.array(agentFields),
  dnsConfig: fields,
  dnsPolicy: z.string(),
  enableServiceLinks: z.boolean(),
  ephemeralContainers: named,
  hostAliases: list,
  hostIPC: z.boolean(),
  hostNetwork: z.boolean(),
  hostPID: z.boolean(),
  hostUsers: z.boolean(),
  hostname: z.string(),
  hostnameOverride: z.string(),
  imagePullSecrets: list,
  initContainers: named,
  nodeName: z.string(),
  os: fields,
  overhead: fields,
  preemptionPolicy: z.string(),
  priority: z.int(),
  priorityClassName: z.string(),
  readinessGates: list,
  resourceClaims: list,
  resources: fields,
  restartPolicy: z.string(),
  runtimeClassName: z.string(),
  schedulerName: z.string(),
  schedulingGates: list,
  schedulingGroup: fields,
  securityContext: fields,
  serviceAccount: z.string(),
  serviceAccountName: z.string(),
  setHostnameAsFQDN: z.boolean(),
  shareProcessNamespace: z.boolean(),
  subdomain: z.string(),
  terminationGracePeriodSeconds: z.int().min(0),
  volumes: named,
} satisfies Record<keyof PodSpec, z.ZodType>;

/** An amount for each `memory` that a pool may ask for. */
const byMemory = z.strictObject({ "8GiB": amount, "16GiB": amount }).partial();

const PodTemplate = z.strictObject({
  metadata: z.strictObject({ labels: texts.optional(), annotations: texts.optional() }).optional(),
  spec: z.strictObject(specFields).partial().optional(),
  /** For on-demand browsers with a GPU: the extended resource of which a pod asks one, and what is added to `spec`. */
  gpu: z
    .strictObject({ resource: z.string().min(1), ...placement, runtimeClassName: z.string().min(1) })
    .partial({
      nodeSelector: true,
      tolerations: true,
      affinity: true,
      topologySpreadConstraints: true,
      runtimeClassName: true,
    })
    .optional(),
  /** The memory limit of headful browsers for each `memory` that a pool may ask for; left out: as much as that says. */
  memory: byMemory.optional(),
  /** What the scheduler counts for them; left out: the request that the container has for all browsers. */
  memoryRequests: byMemory.optional(),
  /** The processor that a pod asks for while its browser is idle; left out: what it asks for in use. */
  idleCpu: amount.optional(),
  regions: z.partialRecord(BrowserPoolSpec.shape.region.unwrap(), z.strictObject(placement).partial()).optional(),
});

export type PodTemplate = z.infer<typeof PodTemplate>;

/** Parses a template. Throws an `Error` that names each bad field; `where`: the file. */
export const checkPodTemplate = (value: unknown, where: string): PodTemplate => {
  const template = checkValue(PodTemplate, value, where);
  const faults = resourceFaults(template);
  if (faults.length > 0) throw new Error(`${where}: ${faults.join("; ")}`);
  return template;
};

type Placement = NonNullable<NonNullable<PodTemplate["regions"]>["us-east"]>;

/** Adds a region's placement to the general one: its items to the lists, its keys to the maps, where they win. */
const placementOf = (all: Placement, region: Placement): Placement => {
  const merged: Placement = {};
  const nodeSelector = { ...all.nodeSelector, ...region.nodeSelector };
  const affinity = { ...all.affinity, ...region.affinity };
  const tolerations = [...(all.tolerations ?? []), ...(region.tolerations ?? [])];
  const spread = [...(all.topologySpreadConstraints ?? []), ...(region.topologySpreadConstraints ?? [])];
  if (Object.keys(nodeSelector).length > 0) merged.nodeSelector = nodeSelector;
  if (Object.keys(affinity).length > 0) merged.affinity = affinity;
  if (tolerations.length > 0) merged.tolerations = tolerations;
  if (spread.length > 0) merged.topologySpreadConstraints = spread;
  return merged;
};

type Resources = NonNullable<Container["resources"]>;

const withOwnFields = (
  own: Container,
  given: object & { env?: { name: string }[] | undefined; resources?: object | undefined },
): Container => {
  const taken = new Set(own.env?.map(({ name }) => name));
  const env = [...(own.env ?? []), ...(given.env ?? []).filter(({ name }) => !taken.has(name))];
  const { resources, ...others } = given;
  // The schema knows that requests and limits are texts by their names; what is in them is the API server's to check.
  const { limits, requests, ...rest } = (resources ?? {}) as Resources;
  const merged: Resources = {
    ...rest,
    ...((requests || own.resources?.requests) && { requests: { ...requests, ...own.resources?.requests } }),
    limits: { ...limits, ...own.resources?.limits },
  };
  return { ...others, ...own, env, ...((resources || own.resources) && { resources: merged }) };
};

/** Adds the template's fields for this region to `pod`; pure. The fields of `pod` win. */
export const applyPodTemplate = (
  pod: NewObject<Pod>,
  template: PodTemplate | undefined,
  region: string,
): NewObject<Pod> => {
  const { spec: own, metadata } = pod;
  if (!template || !own) return pod;
  const { metadata: added = {}, spec = {}, regions = {} } = template;
  const { containers: given = [], ...rest } = spec;
  const names = new Set(own.containers.map(({ name }) => name));
  const containers = own.containers.map((container) =>
    withOwnFields(container, given.find(({ name }) => name === container.name) ?? {}),
  );
  const sidecars = given.filter(({ name }) => !names.has(name));
  // Any text may be asked for; an unknown region has no placement.
  const placed = placementOf(spec, regions[region as keyof typeof regions] ?? {});
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...added.labels, ...metadata.labels },
      annotations: { ...added.annotations, ...metadata.annotations },
    },
    // The template's schema knows the names of fields; what is in them is the API server's to check.
    spec: { ...rest, ...placed, ...own, containers: [...containers, ...sidecars] } as PodSpec,
  };
};

/** The template of pods with a GPU: the same with what the installation adds for those; pure. */
export const gpuTemplate = (template: PodTemplate | undefined): PodTemplate | undefined => {
  if (!template?.gpu) return template;
  const { resource, runtimeClassName, ...placed } = template.gpu;
  const spec = template.spec ?? {};
  const containers = spec.containers ?? [];
  const agent = containers.find(({ name }) => name === agentName) ?? { name: agentName };
  const limits = { ...agent.resources?.limits, [resource]: "1" };
  return {
    ...template,
    spec: {
      ...spec,
      ...placementOf(spec, placed),
      ...(runtimeClassName && { runtimeClassName }),
      containers: [
        ...containers.filter(({ name }) => name !== agentName),
        { ...agent, resources: { ...agent.resources, limits } },
      ],
    },
  };
};

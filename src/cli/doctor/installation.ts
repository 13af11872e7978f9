/** What `browserpool doctor --cluster` reads of the objects of an installation in a cluster. */
import { kinds } from "../../cmd/features.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason, isTransient } from "../../platform/kube/kube-error.ts";
import type { KubeObject, Pod } from "../../platform/kube/objects.ts";
import { resizesPods } from "../../platform/kube/resizes-pods.ts";
import { pods, type ResourceType } from "../../platform/kube/resource-type.ts";
import { type Check, type Found, firstOf, ok, problem, skipped, warning } from "./finding.ts";
import { projectChecks } from "./project.ts";

/**
 * Where the installation is. `release`: its name in Helm; `projectNamespace`: of the project whose browsers are looked
 * at; `clusterDomain`: of the cluster's DNS.
 */
export type Installation = { namespace: string; release: string; projectNamespace: string; clusterDomain: string };

type Workload = KubeObject & {
  spec?: { replicas?: number };
  status?: { readyReplicas?: number };
};

type AdmissionPolicy = KubeObject & {
  status?: { typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] } };
};
type AdmissionBinding = KubeObject & { spec: { policyName?: string; validationActions?: string[] } };

const kindOf = <T extends KubeObject>(
  group: string,
  kind: string,
  plural: string,
  namespaced = true,
): ResourceType<T> => ({ group, version: "v1", kind, plural, namespaced });

const deployments = kindOf<Workload>("apps", "Deployment", "deployments");
const statefulSets = kindOf<Workload>("apps", "StatefulSet", "statefulsets");
const networkPolicies = kindOf<KubeObject>("networking.k8s.io", "NetworkPolicy", "networkpolicies");
const admission = "admissionregistration.k8s.io";
const admissionPolicies = kindOf<AdmissionPolicy>(
  admission,
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
  false,
);
const admissionBindings = kindOf<AdmissionBinding>(
  admission,
  "ValidatingAdmissionPolicyBinding",
  "validatingadmissionpolicybindings",
  false,
);

/** The oldest minor version of Kubernetes that the chart installs on. */
const oldestMinor = 30;

/** Clocks of a cluster that differ by more spoil tokens and the times in logs, ms. */
const clockMs = 30_000;

const server = (kube: Kube): Check => ({
  name: "API server",
  async find() {
    const { version } = await kube.server();
    const minor = Number(/^v1\.(\d+)/.exec(version)?.[1]);
    if (!(minor >= oldestMinor))
      return problem(`${version} is too old`, `the chart needs Kubernetes 1.${oldestMinor} or newer`);
    return ok((await resizesPods(kube)) ? version : `${version}, which resizes no pods: browsers.idleCpu does nothing`);
  },
});

const clock = (kube: Kube): Check => ({
  name: "clock",
  async find() {
    const offMs = Math.abs((await kube.server()).nowMs - Date.now());
    const says = `${Math.round(offMs / 1000)} s from the API server's`;
    return offMs <= clockMs ? ok(says) : problem(says, "let all nodes set their clocks by NTP");
  },
});

const definitions = (kube: Kube): Check => ({
  name: "CRDs",
  async find() {
    const groups = [...new Set(kinds.map(({ group, version }) => `${group}/${version}`))];
    const served = await Promise.all(
      groups.map((group) =>
        kube.resources(group).catch((error: unknown) => {
          if (hasReason(error, "NotFound") || hasReason(error, "Http404")) return [];
          throw error;
        }),
      ),
    );
    const known = new Set(served.flat().map(({ name }) => name));
    const missing = kinds.filter(({ plural }) => !known.has(plural)).map(({ plural, group }) => `${plural}.${group}`);
    if (missing.length === 0) return ok(`${kinds.length} kinds are served`);
    return problem(
      `not served: ${missing.join(", ")}`,
      "set crds.enabled and upgrade the release, or: kubectl apply --server-side -f crds/",
    );
  },
});

/** Selects what the chart has made in its own namespace. */
export const ofRelease = ({ namespace, release }: Installation) => ({
  namespace,
  labelSelector: `app.kubernetes.io/instance=${release},app.kubernetes.io/part-of=browserpool`,
});

/** Selects the pods of the project's browsers. */
export const browsersOf = ({ projectNamespace }: Installation) => ({
  namespace: projectNamespace,
  labelSelector: "app.kubernetes.io/name=browserpool-browser",
});

const noRelease = ({ namespace, release }: Installation): Found =>
  problem(
    `no release ${release} in namespace ${namespace}`,
    "name it: --namespace NAMESPACE --release NAME; helm list --all-namespaces shows it",
  );

const workloads = (kube: Kube, place: Installation): Check => ({
  name: "deployments",
  async find() {
    const lists = await Promise.all([
      kube.list(deployments, ofRelease(place)),
      kube.list(statefulSets, ofRelease(place)),
    ]);
    const all = lists.flatMap(({ items }) => items);
    if (all.length === 0) return noRelease(place);
    const texts = all.map(({ metadata, spec: { replicas: wanted = 1 } = {}, status: { readyReplicas = 0 } = {} }) => ({
      text: `${metadata.name} ${readyReplicas} of ${wanted}`,
      isReady: readyReplicas >= wanted && wanted > 0,
    }));
    const waiting = texts.filter(({ isReady }) => !isReady).map(({ text }) => text);
    if (waiting.length === 0) return ok(texts.map(({ text }) => text).join(", "));
    return problem(`not ready: ${waiting.join(", ")}`, `kubectl get pods --namespace ${place.namespace}`);
  },
});

type Complaint = { pod: Pod; what: string; wayOut: string };

const commandFor = (verb: string, { metadata }: Pod): string =>
  `kubectl ${verb} ${verb === "describe" ? "pod " : ""}${metadata.name} --namespace ${metadata.namespace}`;

/** Why a container waits, as the kubelet says it. */
const waitingWayOut = (reason: string, pod: Pod): string => {
  if (/^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason))
    return `check the image's name, and the pull secret that imagePullSecrets names:\n${commandFor("describe", pod)}`;
  if (reason === "CrashLoopBackOff") return `${commandFor("logs", pod)} --previous`;
  return commandFor("describe", pod);
};

/** A container that starts says no more than this. */
const starting = new Set(["ContainerCreating", "PodInitializing"]);

const complaintsOf = (pod: Pod): Complaint[] => {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return [{ pod, what: `no node takes it: ${scheduled.message ?? ""}`, wayOut: commandFor("describe", pod) }];
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return containers.flatMap(({ name, image, state }) => {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (!state?.waiting || starting.has(reason)) return [];
    return [{ pod, what: `${name} (${image}): ${reason} ${message}`.trim(), wayOut: waitingWayOut(reason, pod) }];
  });
};

const podsOf = (kube: Kube, place: Installation): Check => ({
  name: "pods",
  async find() {
    const lists = await Promise.all([kube.list(pods, ofRelease(place)), kube.list(pods, browsersOf(place))]);
    const all = lists.flatMap(({ items }) => items).filter(({ metadata }) => !metadata.deletionTimestamp);
    const complaints = all.flatMap(complaintsOf);
    const [first] = complaints;
    if (!first) return ok(`${all.length} without complaints`);
    return problem(firstOf(complaints.map(({ pod, what }) => `${pod.metadata.name}: ${what}`)), first.wayOut);
  },
});

/** The chart's ValidatingAdmissionPolicies without the prefix of the release, by the value that turns them off. */
export const policiesByValue: Readonly<Record<string, readonly string[]>> = {
  "rbac.admissionPolicies": [
    ...["project-objects", "operator-namespaces", "api-namespaces", "no-tokens", "system-secrets", "agent-keys"],
    ...["browser-pods", "operator-specs", "browser-names"],
  ],
  "rbac.ownPods": ["own-pods"],
};

/** The prefix of the names of the release's objects: that of its Deployment of the API. */
const prefixOf = async (kube: Kube, place: Installation): Promise<string | undefined> => {
  const { items } = await kube.list(deployments, ofRelease(place));
  const api = items.find(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"] === "api");
  return api?.metadata.name.replace(/-api$/, "");
};

const upgrade = ({ namespace, release }: Installation): string =>
  `helm upgrade ${release} … --namespace ${namespace} with the values of the release`;

const admissionCheck = (kube: Kube, place: Installation): Check => ({
  name: "admission policies",
  async find() {
    const [prefix, { items: policies }, { items: bindings }] = await Promise.all([
      prefixOf(kube, place),
      kube.list(admissionPolicies),
      kube.list(admissionBindings),
    ]);
    if (prefix === undefined) return noRelease(place);
    const inForce = new Set(
      bindings.flatMap(({ spec }) => (spec.validationActions?.includes("Deny") ? [spec.policyName] : [])),
    );
    const kept = new Set(policies.map(({ metadata }) => metadata.name).filter((name) => inForce.has(name)));
    const groups = Object.entries(policiesByValue).map(([value, names]) => {
      const all = names.map((name) => `${prefix}-${name}`);
      return { value, all, missing: all.filter((name) => !kept.has(name)) };
    });
    const lost = groups.flatMap(({ all, missing }) => (missing.length < all.length ? missing : []));
    const off = groups.filter(({ all, missing }) => missing.length === all.length).map(({ value }) => value);
    if (lost.length > 0)
      return problem(`not there, or without a binding that denies: ${lost.join(", ")}`, `${upgrade(place)} makes them`);
    const ours = policies.filter(({ metadata }) => groups.some(({ all }) => all.includes(metadata.name)));
    const wrong = ours.flatMap(({ metadata, status }) =>
      (status?.typeChecking?.expressionWarnings ?? []).map(({ fieldRef }) => `${metadata.name} ${fieldRef}`),
    );
    if (wrong.length > 0)
      return warning(`expressions that this API server does not understand: ${wrong.join(", ")}`, "update the chart");
    if (off.length > 0)
      return warning(`turned off, or deleted: ${off.join(", ")}`, "docs/security.md says what they keep out");
    return ok(`${ours.length} in force`);
  },
});

/** The NetworkPolicies of a project, which the operator keeps. */
export const projectPolicies = ["browserpool-default-deny", "browserpool-agents", "browserpool-egress"];

const networkPoliciesCheck = (kube: Kube, place: Installation): Check => ({
  name: "network policies",
  async find() {
    const [{ items: own }, { items: ofProject }] = await Promise.all([
      kube.list(networkPolicies, ofRelease(place)),
      kube.list(networkPolicies, { namespace: place.projectNamespace }),
    ]);
    const names = ofProject.map(({ metadata }) => metadata.name);
    const missing = projectPolicies.filter((name) => !names.includes(name));
    const components = own.map(({ metadata }) => metadata.labels?.["app.kubernetes.io/component"]);
    const open = ["api", "operator"].filter((component) => !components.includes(component));
    if (missing.length === projectPolicies.length && own.length === 0)
      return warning("none: the release leaves them to others", "networkPolicy.enabled and browsers.networkPolicy");
    const lacking = [
      ...missing.map((name) => `${name} in ${place.projectNamespace}`),
      ...open.map((component) => `that of the ${component} in ${place.namespace}`),
    ];
    if (lacking.length > 0) return problem(`missing: ${lacking.join(", ")}`, upgrade(place));
    return ok(`${own.length} of the release, ${projectPolicies.length} of the project`);
  },
});

/** A check that is left out where this account may not read what it needs, and when the API server is away. */
const readable =
  (kube: Kube) =>
  ({ find, ...check }: Check): Check => ({
    ...check,
    async find(signal) {
      try {
        return await find(signal);
      } catch (error) {
        if (hasReason(error, "Forbidden") && error instanceof Error) return skipped(`not told: ${error.message}`);
        if (isTransient(error) && !(await kube.ready())) return skipped("the API server does not answer");
        throw error;
      }
    },
  });

/** The checks of what an installation consists of. */
export const installationChecks = (kube: Kube, place: Installation): Check[] => [
  server(kube),
  ...[
    clock(kube),
    definitions(kube),
    workloads(kube, place),
    podsOf(kube, place),
    admissionCheck(kube, place),
    networkPoliciesCheck(kube, place),
    ...projectChecks(kube, place),
  ].map(readable(kube)),
];

import type { Kube } from "./client.ts";
import type {
  ConfigMap,
  CustomResourceDefinition,
  KubeEvent,
  KubeObject,
  Lease,
  Namespace,
  Node,
  Pod,
  Ref,
  Secret,
} from "./objects.ts";

/** A kind and its place in the Kubernetes API. `group` is "" for the core group. `T` is the object's type. */
export type ResourceType<T extends KubeObject> = {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** Carries the type `T` only; never set. */
  readonly object?: T;
};

export const pods: ResourceType<Pod> = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

export const secrets: ResourceType<Secret> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
};

export const configMaps: ResourceType<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export const namespaces: ResourceType<Namespace> = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

export const nodes: ResourceType<Node> = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };

export const clusterRoles: ResourceType<KubeObject> = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

export const leases: ResourceType<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export const events: ResourceType<KubeEvent> = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

export const customResourceDefinitions: ResourceType<CustomResourceDefinition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

const apiVersionOf = (type: ResourceType<KubeObject>): string =>
  type.group === "" ? type.version : `${type.group}/${type.version}`;

/** `apiVersion` and `kind` of the objects of this type. */
export const typeMeta = (type: ResourceType<KubeObject>): { apiVersion: string; kind: string } => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
});

/**
 * The resource in an API path: the plural, with `/<subresource>` if the path has one, as in `browserpools/status`. For
 * a path without a resource it is the first segment, as in `readyz`; for API discovery it is `discovery`.
 */
export const resourceOf = (path: string): string => {
  const [root = "", ...parts] = path.slice(1).split("/");
  if (root !== "api" && root !== "apis") return root;
  const object = parts.slice(root === "api" ? 1 : 2);
  const isInNamespace = object[0] === "namespaces" && object.length > 2;
  const [plural = "discovery", , subresource] = isInNamespace ? object.slice(2) : object;
  return subresource === undefined ? plural : `${plural}/${subresource}`;
};

/** The URL path of a collection (no `name`) or of one object, with an optional subresource. */
export const pathOf = (type: ResourceType<KubeObject>, ref: Partial<Ref>, subresource?: string): string => {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const parts = [
    root,
    ...(type.namespaced && ref.namespace ? ["namespaces", encodeURIComponent(ref.namespace)] : []),
    type.plural,
    ...(ref.name ? [encodeURIComponent(ref.name)] : []),
    ...(subresource ? [subresource] : []),
  ];
  return parts.join("/");
};

/** Finds the resource type of an object that was read from a file, by API discovery. */
export type ResourceTypes = {
  /**
   * Asks the API server once for each kind. Throws a `KubeError`, or an `Error` for a kind that the server does not
   * have.
   */
  of(object: Pick<KubeObject, "apiVersion" | "kind">): Promise<ResourceType<KubeObject>>;
};

/** Starts with an empty cache. It keeps a found kind for good and asks again for one that it did not find. */
export const createResourceTypes = (kube: Pick<Kube, "resources">): ResourceTypes => {
  const known = new Map<string, ResourceType<KubeObject>>();
  return {
    async of({ apiVersion = "", kind = "" }) {
      const name = `${apiVersion}/${kind}`;
      const cached = known.get(name);
      if (cached) return cached;
      // Discovery lists a subresource as `plural/name`, sometimes with the kind of its parent.
      const found = (await kube.resources(apiVersion)).find(
        (resource) => resource.kind === kind && !resource.name.includes("/"),
      );
      if (!found) throw new Error(`the API server has no kind ${kind} in ${apiVersion}`);
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      const type = { group, version, kind, plural: found.name, namespaced: found.namespaced };
      known.set(name, type);
      return type;
    },
  };
};

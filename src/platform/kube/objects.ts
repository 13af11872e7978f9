import type {
  EventsV1Event,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1Lease,
  V1Namespace,
  V1Node,
  V1Pod,
  V1Secret,
} from "@kubernetes/client-node";
import { KubeError } from "./kube-error.ts";
import { type ResourceType, typeMeta } from "./resource-type.ts";

// The door through which objects come in from the API server. The server has checked them against their kind's schema.
// Caches, owner references and keys in Redis go by the uid: an empty one would be a key that all objects share, so it
// stops here.

type Fields = { name?: unknown; namespace?: unknown; uid?: unknown; resourceVersion?: unknown };

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const metadataOf = (value: unknown): Fields =>
  isObject(value) && "metadata" in value && isObject(value.metadata) ? value.metadata : {};

/** A few tests of fields and no more: a list may hold thousands of pods. */
const isStored = <T extends KubeObject>(type: ResourceType<T>, value: unknown): value is T => {
  const { name, namespace, uid, resourceVersion } = metadataOf(value);
  return isText(uid) && isText(resourceVersion) && isText(name) && (!type.namespaced || isText(namespace));
};

/** An answer that no Kubernetes API gives. A repetition would not help, so it counts as no outage. */
export const malformed = (what: string): KubeError => new KubeError("Malformed", 200, `the Kubernetes API ${what}`);

/**
 * `value`, out of an answer, as an object of `type`. Throws a `KubeError` when it has no name, uid, version or
 * namespace.
 */
export const storedObject = <T extends KubeObject>(type: ResourceType<T>, value: unknown): T => {
  if (isStored(type, value)) return value;
  const metadata = metadataOf(value);
  const required = ["name", "uid", "resourceVersion", ...(type.namespaced ? (["namespace"] as const) : [])] as const;
  const missing = required.filter((field) => !isText(metadata[field])).map((field) => `metadata.${field}`);
  const { apiVersion, kind } = typeMeta(type);
  const name = isText(metadata.name) ? ` ${metadata.name}` : "";
  throw malformed(`answered a ${kind}${name} (${apiVersion}) without ${missing.join(", ")}`);
};

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

/** The part of `metadata` that this product reads or writes; times are RFC 3339 strings, as in JSON. */
export type ObjectMeta = {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
};

/** An object as the API server answers it, with the uid and the version that every stored object has (objects.ts). */
export type KubeObject = { apiVersion?: string; kind?: string; metadata: ObjectMeta };

/** An object of a namespaced kind. */
export type NamespacedObject = KubeObject & { metadata: { namespace: string } };

/** An object to create or to apply: the API server gives it its uid and version. */
export type NewObject<T extends KubeObject> = Omit<T, "metadata"> & {
  metadata: Omit<ObjectMeta, "uid" | "resourceVersion"> & Pick<T["metadata"], "namespace">;
};

/** Names one object of a kind; `namespace` is left out for cluster-scoped kinds. */
export type Ref = { name: string; namespace?: string };

/** Names one object of a namespaced kind. */
export type NamespacedRef = { name: string; namespace: string };

/** A generated client type in its JSON form: dates are strings, and `metadata` is always present. */
type AsJson<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? AsJson<Item>[]
    : T extends object
      ? { [Key in keyof T]: AsJson<T[Key]> }
      : T;
type Object_<T> = Omit<AsJson<T>, "metadata"> & KubeObject;
type Namespaced<T> = Omit<AsJson<T>, "metadata"> & NamespacedObject;

export type Pod = Namespaced<V1Pod>;
export type ConfigMap = Namespaced<V1ConfigMap>;
export type Secret = Namespaced<V1Secret>;
export type Namespace = Object_<V1Namespace>;
export type Node = Object_<V1Node>;
export type Lease = Namespaced<V1Lease>;
export type KubeEvent = Namespaced<EventsV1Event>;
export type CustomResourceDefinition = Object_<V1CustomResourceDefinition>;

/** `namespace/name`, or the bare name of a cluster-scoped object: the key of caches and work queues. */
export const keyOf = (ref: Ref): string => (ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name);

/** The inverse of `keyOf`. */
export const refOf = (key: string): Ref => {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};

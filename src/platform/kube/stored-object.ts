/**
 * The door through which objects come in from the API server. The server has checked them against their kind's schema. Caches,
 * owner references and keys in Redis go by the uid: an empty one would be a key that all objects share, so it stops here.
 */
import { KubeError } from "./kube-error.ts";
import type { KubeObject } from "./objects.ts";
import { type ResourceType, typeMeta } from "./resource-type.ts";

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

/** `value`, out of an answer, as an object of `type`. Throws a `KubeError` when it has no name, uid, version or namespace. */
export const storedObject = <T extends KubeObject>(type: ResourceType<T>, value: unknown): T => {
  if (isStored(type, value)) return value;
  const metadata = metadataOf(value);
  const required = ["name", "uid", "resourceVersion", ...(type.namespaced ? (["namespace"] as const) : [])] as const;
  const missing = required.filter((field) => !isText(metadata[field])).map((field) => `metadata.${field}`);
  const { apiVersion, kind } = typeMeta(type);
  const name = isText(metadata.name) ? ` ${metadata.name}` : "";
  throw malformed(`answered a ${kind}${name} (${apiVersion}) without ${missing.join(", ")}`);
};

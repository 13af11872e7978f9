/** The id, the name and the time of creation of an object as the HTTP API shows them (HTTP-11). */

import { createHash } from "node:crypto";
import type { KubeObject } from "../kube/objects.ts";
import { maxIdLength } from "./selector.ts";

/** Label of a Namespace that is a project; its value is the project's id. */
export const projectLabel = "browserpool.dev/project";

/**
 * Ids that the HTTP API makes: 24 characters (core/objects/new-id.ts). Such a `metadata.name` is not used as a name.
 */
const generatedId = /^[a-z][a-z0-9]{23}$/;

/** Label of a Namespace, `true`: it may become a project although others have pods there. */
export const adoptLabel = "browserpool.dev/adopt";

/** The id of an object on the wire: `metadata.name`. */
export const wireId = (object: KubeObject): string => object.metadata.name;

/**
 * `spec.name`. Without it, an object from YAML has its `metadata.name` as name, and an object that HTTP created has no
 * name.
 */
export const wireName = (object: KubeObject & { spec: { name?: string | undefined } }): string | undefined => {
  if (object.spec.name !== undefined) return object.spec.name;
  return generatedId.test(object.metadata.name) ? undefined : object.metadata.name;
};

/** The name that an object claims among those of its kind. One without a name claims its id, which no other has. */
export const claimedName = (object: KubeObject & { spec: { name?: string | undefined } }): string =>
  wireName(object) ?? object.metadata.name;

/** RFC 3339. Throws for an object that was not read from the API server, which sets the time. */
export const createdAt = (object: KubeObject): string => {
  const { creationTimestamp, name } = object.metadata;
  if (creationTimestamp === undefined)
    throw new Error(`${name} has no creationTimestamp: not read from the API server`);
  return creationTimestamp;
};

/** Sorts older objects first, and objects of the same second by name, so that all replicas agree. */
export const byAge = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number =>
  (a.creationTimestamp ?? "").localeCompare(b.creationTimestamp ?? "") || a.name.localeCompare(b.name);

/** Annotation: when the HTTP API last changed a part of the object that answers show, RFC 3339. */
export const updatedAtAnnotation = "browserpool.dev/updated-at";

/** RFC 3339; the time of creation for an object that HTTP never changed. Throws like `createdAt`. */
export const updatedAt = (object: KubeObject): string =>
  object.metadata.annotations?.[updatedAtAnnotation] ?? createdAt(object);

/**
 * The name of an object's own Secret, so that the operator can delete it without reading Secrets. A name that is too
 * long for the prefix is hashed.
 */
export const secretNameFor = (prefix: string, objectName: string): string =>
  prefix.length + objectName.length <= maxIdLength
    ? prefix + objectName
    : prefix + createHash("sha256").update(objectName).digest("hex");

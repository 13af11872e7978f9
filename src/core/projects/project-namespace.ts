/**
 * A project is a Namespace with the label `browserpool.dev/project=<id>`; all objects of the project are in it. A
 * namespace that the HTTP API creates has the id as its name; for a namespace that a user labels, the label's value is
 * the id.
 */

import { projectLabel } from "../../platform/kinds/identity.ts";
import type { Namespace } from "../../platform/kube/objects.ts";
import { projectCapAnnotation, readCap } from "../model/sessions/session-room.ts";

export type Project = {
  id: string;
  name: string;
  namespace: string;
  status: "active" | "archived";
  createdAt: string;
  updatedAt: string;
  /** How many browsers may run in this project at once, 1 or more; undefined: no own cap, see `projectSessionLimit`. */
  maxConcurrentSessions: number | undefined;
  /** Stored for callers only; this service runs no apps. */
  maxConcurrentInvocations: number | undefined;
};

/** Label with the project's status: `active` (also when the label is missing), `archived` or `deleted`. */
export const projectStatusLabel = "browserpool.dev/project-status";

/** Annotations of a project's Namespace. */
export const projectAnnotations = {
  name: "browserpool.dev/project-name",
  updatedAt: "browserpool.dev/project-updated-at",
  maxConcurrentSessions: projectCapAnnotation,
  maxConcurrentInvocations: "browserpool.dev/max-concurrent-invocations",
} as const;

/** URLs and names of objects contain ids, so they are DNS labels; a namespace with any other value is no project. */
const idPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The project of a namespace, also while it is being deleted and afterwards; undefined when it is no project. */
const projectOf = ({ metadata }: Namespace): Project | undefined => {
  const { name: namespace, labels = {}, annotations = {}, creationTimestamp = "" } = metadata;
  const id = labels[projectLabel] ?? "";
  if (!idPattern.test(id)) return undefined;
  return {
    id,
    name: annotations[projectAnnotations.name] || id,
    namespace,
    status: labels[projectStatusLabel] === "archived" ? "archived" : "active",
    createdAt: creationTimestamp,
    updatedAt: annotations[projectAnnotations.updatedAt] ?? creationTimestamp,
    maxConcurrentSessions: readCap(annotations[projectAnnotations.maxConcurrentSessions]),
    maxConcurrentInvocations: readCap(annotations[projectAnnotations.maxConcurrentInvocations]),
  };
};

/** Whether the project of a namespace was deleted: its namespace stays. */
export const isDeletedProject = ({ metadata }: Namespace): boolean =>
  metadata.labels?.[projectStatusLabel] === "deleted";

/**
 * The project of a namespace; undefined when it is no project, when the project was deleted, or when the namespace is
 * being deleted.
 */
export const readProject = (namespace: Namespace): Project | undefined =>
  isDeletedProject(namespace) || namespace.metadata.deletionTimestamp !== undefined ? undefined : projectOf(namespace);

/** The project of a namespace that is being deleted, and of no other. */
export const readLeavingProject = (namespace: Namespace): Project | undefined =>
  isDeletedProject(namespace) || namespace.metadata.deletionTimestamp === undefined ? undefined : projectOf(namespace);

/** The project of a namespace if it has no sessions any more: it is archived, deleted or being deleted. */
export const readClosedProject = (namespace: Namespace): Project | undefined =>
  readProject(namespace)?.status === "active" ? undefined : projectOf(namespace);

/**
 * A project is a Namespace with the label `browserpool.dev/project=<id>`; everything of the project lives in it. One
 * made by HTTP is named by its id; one that somebody labelled has the label's value as id.
 */
import type { Namespace } from "../../kube/objects.ts";
import { projectLabel } from "../../resources/identity.ts";

export type Project = {
  id: string;
  name: string;
  namespace: string;
  status: "active" | "archived";
  createdAt: string;
  updatedAt: string;
  /** Browsers that may run in this project at once, 1 or more; undefined: no cap of its own, see `projectSessionLimit`. */
  maxConcurrentSessions: number | undefined;
  /** Kept for callers; nothing here runs apps. */
  maxConcurrentInvocations: number | undefined;
};

/** Label with the status: `active` (also when missing), `archived` or `deleted`. */
export const projectStatusLabel = "browserpool.dev/project-status";

/** Annotations of a project's Namespace. */
export const projectAnnotations = {
  name: "browserpool.dev/project-name",
  updatedAt: "browserpool.dev/project-updated-at",
  maxConcurrentSessions: "browserpool.dev/max-concurrent-sessions",
  maxConcurrentInvocations: "browserpool.dev/max-concurrent-invocations",
} as const;

/** Ids stand in URLs and names of objects, so they are DNS labels; a namespace with another value is no project. */
const idPattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A cap as it is written in an annotation; undefined for none and for what is not a whole number above 0. */
export const readCap = (text: string | undefined): number | undefined => {
  const cap = Number(text);
  return Number.isSafeInteger(cap) && cap > 0 ? cap : undefined;
};

/** The project of a namespace; undefined when it is none, when it was deleted, and when the namespace is going. */
export const readProject = ({ metadata }: Namespace): Project | undefined => {
  const { name: namespace, labels = {}, annotations = {}, creationTimestamp = "" } = metadata;
  const id = labels[projectLabel] ?? "";
  const status = labels[projectStatusLabel];
  if (!idPattern.test(id) || status === "deleted" || metadata.deletionTimestamp !== undefined) return undefined;
  return {
    id,
    name: annotations[projectAnnotations.name] || id,
    namespace,
    status: status === "archived" ? "archived" : "active",
    createdAt: creationTimestamp,
    updatedAt: annotations[projectAnnotations.updatedAt] ?? creationTimestamp,
    maxConcurrentSessions: readCap(annotations[projectAnnotations.maxConcurrentSessions]),
    maxConcurrentInvocations: readCap(annotations[projectAnnotations.maxConcurrentInvocations]),
  };
};

/**
 * Whether the objects of a project may be kept in a namespace. They deny all traffic and narrow what may run, so in a
 * namespace in which others already run pods, a label set by mistake would cut these off. There the operator waits for
 * a second label.
 */

import { adoptLabel } from "../../platform/kinds/identity.ts";
import { apiGroup } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { KubeError } from "../../platform/kube/kube-error.ts";
import type { KubeObject, Namespace, Pod } from "../../platform/kube/objects.ts";
import { namespaces, pods, type ResourceTypes } from "../../platform/kube/resource-type.ts";
import type { ProjectObject, ProjectObjects } from "./project-objects.ts";

/** Owns the fields that the operator applies. Fields that others set stay. */
export const fieldManager = "browserpool-operator";

/**
 * Pods that are read to find another's, at most: the operator must not load a large namespace of others.
 */
const maxPods = 500;

type AdoptionDeps = { kube: Pick<Kube, "get" | "list">; types: ResourceTypes; wanted: ProjectObjects };

type Managed = { managedFields?: { manager?: string; operation?: string }[] };

const isApplied = (object: KubeObject | undefined): boolean =>
  ((object?.metadata as Managed | undefined)?.managedFields ?? []).some(
    ({ manager, operation }) => manager === fieldManager && operation === "Apply",
  );

/**
 * The present object; undefined also where the operator can't have applied it: the kind is missing, or the right to it.
 */
const present = async (
  object: ProjectObject,
  namespace: string,
  { kube, types }: AdoptionDeps,
): Promise<KubeObject | undefined> => {
  try {
    const type = await types.of(object);
    return type.namespaced ? await kube.get(type, { namespace, name: object.metadata.name }) : undefined;
  } catch (error) {
    if (error instanceof KubeError && error.status !== 404 && error.status !== 403) throw error;
    return undefined;
  }
};

/** Whether the operator has applied anything there before. */
const wasProject = async (name: string, deps: AdoptionDeps): Promise<boolean> => {
  if (isApplied(await deps.kube.get(namespaces, { name }))) return true;
  for (const object of deps.wanted.objects) if (isApplied(await present(object, name, deps))) return true;
  return false;
};

/** A browser's pod belongs to an object of ours. */
const isBrowser = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(
    ({ controller, apiVersion }) => controller === true && apiVersion.startsWith(`${apiGroup.group}/`),
  ) ?? false;

/**
 * Returns why the namespace must be left alone, as text for users; undefined when its objects may be applied: it is
 * labelled so, was a project before, or nobody else has pods there.
 */
export const whyLeftAlone = async ({ metadata }: Namespace, deps: AdoptionDeps): Promise<string | undefined> => {
  const { name, labels } = metadata;
  if (labels?.[adoptLabel] === "true" || (await wasProject(name, deps))) return undefined;
  const { items } = await deps.kube.list(pods, { namespace: name, limit: maxPods });
  const other = items.find((pod) => !isBrowser(pod));
  if (!other) return undefined;
  return (
    `namespace ${name} has other pods (such as ${other.metadata.name}), which the objects of a project would cut off: ` +
    `use a namespace of its own, or label this one ${adoptLabel}=true`
  );
};

/** Who owns a pool beside the HTTP API, such as Git; pure (GITOPS-4). */
import type { KubeObject } from "../../../platform/kube/objects.ts";

/** Annotation of a pool that HTTP may not change; its value is a word for the owner, e.g. `git`. */
export const managedByAnnotation = "browserpool.dev/managed-by";

/** Of the owner's word, which may be a long text, characters. */
const longestOwner = 63;

/** The owner of a pool that HTTP may not change; undefined for all others. */
export const managedBy = ({ metadata: { annotations } }: Pick<KubeObject, "metadata">): string | undefined =>
  annotations?.[managedByAnnotation]?.trim().slice(0, longestOwner) || undefined;

/**
 * Where in the store the contents of an object are: by its namespace and its name, not by its uid. These two come back
 * with a backup as YAML, no two objects of a kind have the same, and no object can name those of another one
 * (docs/adr/0060-contents-that-are-found-again.md).
 */
import { createHash } from "node:crypto";
import type { NamespacedRef } from "../kube/objects.ts";

/** Names that stand in keys as they are. They are shorter than a digest, so none looks like one. */
const plainName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** The key of an object's contents, or of the folder that they are in. `folder`: of its kind. */
export const objectKey = (folder: string, { namespace, name }: NamespacedRef): string => {
  const part = plainName.test(name) ? name : createHash("sha256").update(name).digest("hex");
  return `${folder}/${namespace}/${part}`;
};

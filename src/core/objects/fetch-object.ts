/**
 * Fetches the objects of a project by id (`metadata.name`), else by name. Objects that are being deleted count as gone.
 */

import { AppError } from "../../platform/base/errors.ts";
import { byAge, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

type Named = KubeObject & { spec: { name?: string | undefined } };
type Deps = { kube: Kube };

/** Where the objects of a project are. */
type Place = { namespace: string };

/** The form of an id; any other text is only compared with names. */
const idPattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const isLive = (object: KubeObject): boolean => !object.metadata.deletionTimestamp;

/** Fetches all objects of a kind in a project, oldest first. */
export const fetchObjects = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { namespace }: Place,
  { kube }: Deps,
): Promise<T[]> => {
  const { items } = await kube.list(kind, { namespace });
  return items.filter(isLive).sort(byAge);
};

/** Fetches the object with this id. */
export const fetchObject = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { id, project }: { id: string; project: Place },
  { kube }: Deps,
): Promise<T | undefined> => {
  if (!idPattern.test(id)) return undefined;
  const object = await kube.get(kind, { namespace: project.namespace, name: id });
  return object && isLive(object) ? object : undefined;
};

/**
 * Fetches an object by id, else by name; of two with one name, the older. `what`: the kind's name in messages. Throws
 * `not_found`.
 */
export const fetchNamedObject = async <T extends Named>(
  kind: ResourceType<T>,
  { idOrName, project, what }: { idOrName: string; project: Place; what: string },
  deps: Deps,
): Promise<T> => {
  const object =
    (await fetchObject(kind, { id: idOrName, project }, deps)) ??
    (await fetchObjects(kind, project, deps)).find((known) => wireName(known) === idOrName);
  if (!object) throw new AppError("not_found", `no ${what} ${idOrName} in this project`);
  return object;
};

/** Objects of a project as requests name them: by id (`metadata.name`), else by name. Objects that are being deleted are gone. */
import { AppError } from "../../errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ResourceType } from "../../kube/resource-type.ts";
import { byAge, wireName } from "../../resources/identity.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Named = KubeObject & { spec: { name?: string | undefined } };
type Deps = Pick<ServiceDeps, "kube">;

/** Where the objects of a project are. */
type Place = { namespace: string };

/** What can be an object's name; anything else is looked for as a name only. */
const idPattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const isThere = (object: KubeObject): boolean => !object.metadata.deletionTimestamp;

/** All of a kind in a project as the API server has them now, oldest first. */
export const fetchObjects = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { namespace }: Place,
  { kube }: Deps,
): Promise<T[]> => {
  const { items } = await kube.list(kind, { namespace });
  return items.filter(isThere).sort(byAge);
};

/** The object of this id as the API server has it now. */
export const fetchObject = async <T extends KubeObject>(
  kind: ResourceType<T>,
  { id, project }: { id: string; project: Place },
  { kube }: Deps,
): Promise<T | undefined> => {
  if (!idPattern.test(id)) return undefined;
  const object = await kube.get(kind, { namespace: project.namespace, name: id });
  return object && isThere(object) ? object : undefined;
};

/** By id, else by name; of two with one name the older. `what`: how messages call the kind. Throws `not_found`. */
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

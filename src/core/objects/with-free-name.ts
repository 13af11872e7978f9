import { AppError } from "../../platform/base/errors.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { fetchObjects } from "./fetch-object.ts";

type Named = KubeObject & { spec: { name?: string | undefined } };

/**
 * `what`: the kind's name, for people and for the lock. `ownId`: the id of an object that may already have the name.
 */
type Wanted = { name: string; what: string; project: { namespace: string }; ownId?: string };

/**
 * Runs `work`, which gives an object of this kind this name, under a lock, so that no other request gives the same
 * name. Throws `name_taken`.
 */
export const withFreeName = <T, O extends Named>(
  kind: ResourceType<O>,
  { name, what, project, ownId }: Wanted,
  deps: { kube: Kube; locks: Locks },
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold([what, project.namespace, name], async () => {
    const holder = (await fetchObjects(kind, project, deps)).find((object) => wireName(object) === name);
    if (holder && holder.metadata.name !== ownId)
      throw new AppError("name_taken", `name: ${name} is the name of another ${what} of this project`);
    return work();
  });

/**
 * How many objects of each kind a project may have, and how many bytes (LIMIT-36). All projects share one etcd, which
 * is full for everybody when it is full. This holds for objects that HTTP makes; a ResourceQuota of the chart holds for
 * all. Of requests at once a few more pass than there is room for.
 */
import { AppError } from "../../platform/base/errors.ts";
import { apiGroup } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

/** Most objects of a kind in a project, by the kind's plural; a kind that is not there has no bound. */
export type ObjectBounds = Readonly<Record<string, number>>;

/** Throws `conflict` when the project of this namespace has as many objects of the kind as it may. */
export const requireQuotaFor = async <T extends KubeObject>(
  type: ResourceType<T>,
  namespace: string | undefined,
  { kube, bounds }: { kube: Pick<Kube, "count">; bounds: ObjectBounds },
): Promise<void> => {
  const most = type.group === apiGroup.group ? bounds[type.plural] : undefined;
  if (most === undefined || namespace === undefined) return;
  const count = await kube.count(type, namespace);
  if (count < most) return;
  throw new AppError(
    "conflict",
    `this project has ${count} ${type.plural}, of ${most} at most: delete some, or have the administrator raise BROWSERPOOL_OBJECTS_PER_PROJECT`,
  );
};

type Bytes = {
  /** What has them, with its verb: `the extensions of this project have`. */
  what: string;
  bytes: number;
  most: number;
  /** What its user can do, and the setting that its administrator can raise. */
  way: string;
  setting: string;
};

/** Throws `conflict` when what a request adds to makes more bytes than a project may have. */
export const requireBytes = ({ what, bytes, most, way, setting }: Bytes): void => {
  if (bytes <= most) return;
  throw new AppError(
    "conflict",
    `${what} ${bytes} bytes, of ${most} at most: ${way}, or have the administrator raise ${setting}`,
  );
};

import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";
import type { ProjectPermission } from "../model/permission.ts";

/** How the events of a project name the kinds of features. */
export const announcedNames = [
  "profile",
  "proxy",
  "extension",
  "vault",
  "vault_item",
  "credential",
  "auth_connection",
  "telemetry_destination",
] as const;

/** What an event says of an object: what the routes of its kind take. */
export type Identity = { id: string; name?: string; vault_id?: string };

/** A kind whose objects are in the events of their project, without their contents. */
export type Announced = {
  name: (typeof announcedNames)[number];
  // biome-ignore lint/suspicious/noExplicitAny: of kinds of every shape
  kind: ResourceType<any>;
  /** What a key needs to read such objects. */
  permission: ProjectPermission;
  /** Left out: id and name, as answers have them. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  identify?(object: any): Identity;
};

/** The id of an object, and its name if it has one. */
export const identityOf = (object: KubeObject & { spec: { name?: string | undefined } }): Identity => {
  const name = wireName(object);
  return { id: wireId(object), ...(name !== undefined && { name }) };
};

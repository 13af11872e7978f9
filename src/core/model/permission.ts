/** The rights of an API key (AUTH-11). Each route needs one of them; `docs/permissions.md` lists which. */
import { z } from "zod";
import { permissionTexts } from "./permission-texts.ts";

export type Permission = keyof typeof permissionTexts;

/** The permissions that a key of one project can have. */
export type ProjectPermission = Exclude<Permission, "organization">;

/** Every permission, in the order of the documentation. `keys` forgets which keys there are. */
export const permissions = Object.keys(permissionTexts) as Permission[];

/** Permissions that a key has only if its list names them: all of a key's level is without them. */
export const onlyNamed: readonly Permission[] = ["processes:run"];

/** Whether `text` is the name of a permission. */
export const isPermission = (text: string): text is Permission => Object.hasOwn(permissionTexts, text);

/**
 * The permissions of a key. `listed`: those that it was given; undefined: all of its level but `onlyNamed`. A key of a project never
 * has `organization`, whatever is listed.
 */
export const permissionsOf = ({
  projectId,
  listed,
}: {
  projectId: string | undefined;
  listed: readonly Permission[] | undefined;
}): ReadonlySet<Permission> =>
  new Set(
    (listed ?? permissions.filter((each) => !onlyNamed.includes(each))).filter(
      (each) => projectId === undefined || each !== "organization",
    ),
  );

/** A list of permissions in a request; without duplicates, in the order of the documentation. */
export const PermissionList = z
  .array(z.enum(permissions, { error: `must be one of ${permissions.join(", ")}` }))
  .min(1, "give at least one permission, or null for all of the key's level")
  .max(100)
  .transform((given) => permissions.filter((each) => given.includes(each)));

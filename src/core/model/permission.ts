/** The rights of an API key (AUTH-11). Each route needs one of them; `docs/permissions.md` lists which. */
import { z } from "zod";

/** What each permission allows, for the documentation. */
export const permissionTexts = {
  "pools:read": "read pools, proxies, telemetry destinations, sessions without their URLs, and the project",
  "pools:write":
    "create, change, flush and delete pools; create, rename, check and delete proxies; create, change and delete telemetry destinations",
  "browsers:use": "acquire, start, change, release and end browsers, and see the URLs of sessions",
  "profiles:use": "download the contents of profiles, and have pools and browsers start with them",
  "profiles:write": "have browsers save their state to profiles at their end",
  "vaults:read": "read vaults, items and their events, credentials and connections; never a stored value",
  "vaults:write": "create and delete vaults and items",
  "vaults:fill": "attach vaults to browsers, and fill items into pages",
  "credentials:write": "create, change and delete credentials and connections, and begin logins",
  "credentials:totp": "read the current code of an authenticator",
  "registry:read": "look up which settings reach a site, and read analyses",
  "registry:analyze": "have sites analyzed, by browsers that are set aside for it",
  organization: "manage projects, limits and API keys; only keys of the organization have it",
} as const;

export type Permission = keyof typeof permissionTexts;

/** The permissions that a key of one project can have. */
export type ProjectPermission = Exclude<Permission, "organization">;

/** Every permission, in the order of the documentation. `keys` forgets which keys there are. */
export const permissions = Object.keys(permissionTexts) as Permission[];

/** Whether `text` is the name of a permission. */
export const isPermission = (text: string): text is Permission => Object.hasOwn(permissionTexts, text);

/**
 * The permissions of a key. `listed`: those that it was given; undefined: all of its level. A key of a project never
 * has `organization`, whatever is listed.
 */
export const permissionsOf = ({
  projectId,
  listed,
}: {
  projectId: string | undefined;
  listed: readonly Permission[] | undefined;
}): ReadonlySet<Permission> =>
  new Set((listed ?? permissions).filter((each) => projectId === undefined || each !== "organization"));

/** A list of permissions in a request; without duplicates, in the order of the documentation. */
export const PermissionList = z
  .array(z.enum(permissions, { error: `must be one of ${permissions.join(", ")}` }))
  .min(1, "give at least one permission, or null for all of the key's level")
  .max(100)
  .transform((given) => permissions.filter((each) => given.includes(each)));

/** What each permission allows, for the documentation and the console. */
export const permissionTexts = {
  "pools:read": "read pools, proxies, telemetry destinations, sessions without their URLs, and the project",
  "pools:write":
    "create, change, flush and delete pools; create, rename, check and delete proxies; create, change and delete telemetry destinations",
  "browsers:use": "acquire, start, change, release and end browsers, and see the URLs of sessions",
  "processes:run":
    "run processes beside browsers, where the installation has them; only keys that name it in their list have it",
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

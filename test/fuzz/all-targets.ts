/** The targets by their names; each is a file in `targets/`. */

export const targetNames = [
  "agent-sockets",
  "api-requests",
  "extension-zips",
  "gateway",
  "lookup-urls",
  "multipart",
  "page-messages",
  "policies",
  "profile-archives",
  "resources",
  "tokens",
] as const;

export type TargetName = (typeof targetNames)[number];

/** URL of the module that exports a target. */
export const moduleOf = (name: TargetName): string => new URL(`targets/${name}.ts`, import.meta.url).href;

/**
 * The folders of src/ from the bottom up. A folder imports folders of its own layer and of lower ones, never of a higher one; that
 * goes for types too. import-rules.ts narrows this down.
 */

/** A layer: its name, and its folders or files. */
type Layer = { name: string; folders: readonly string[] };

export const layers: readonly Layer[] = [
  {
    name: "ground",
    folders: [
      "await-with.ts",
      "config.ts",
      "environment.ts",
      "errors.ts",
      "host-port.ts",
      "listening-port.ts",
      "log.ts",
      "retry.ts",
      "sensitive.ts",
    ],
  },
  {
    name: "clients",
    folders: [
      "audit",
      "blobs",
      "cdp",
      "extension-zip",
      "kube",
      "metrics",
      "net",
      "process",
      "profile-archive",
      "protocol",
      "redis",
    ],
  },
  { name: "kinds", folders: ["resources"] },
  { name: "rules", folders: ["domain"] },
  { name: "stored secrets", folders: ["secrets"] },
  { name: "leases", folders: ["fill", "leases", "registry", "telemetry"] },
  {
    name: "use cases",
    folders: [
      "controllers",
      "controllers/auth-connection",
      "controllers/browser-pool",
      "controllers/credential",
      "controllers/extension",
      "controllers/profile",
      "controllers/project",
      "controllers/proxy",
      "controllers/session-outcomes",
      "controllers/site-analysis",
      "controllers/site-config",
      "controllers/telemetry-destination",
      "controllers/vault",
      "controllers/vault-item",
      "services",
      "services/api-keys",
      "services/collecting",
      "services/connections",
      "services/credentials",
      "services/extensions",
      "services/limits",
      "services/objects",
      "services/policies",
      "services/pools",
      "services/profiles",
      "services/projects",
      "services/proxies",
      "services/registry",
      "services/replays",
      "services/secrets",
      "services/sessions",
      "services/setups",
      "services/telemetry-destinations",
      "services/telemetry",
      "services/vaults",
    ],
  },
  { name: "bootstrap", folders: ["bootstrap"] },
  { name: "servers", folders: ["agent", "gateway", "http", "local", "probe"] },
  { name: "commands", folders: ["cmd"] },
  { name: "program", folders: ["main.ts"] },
];

/** Folders whose subfolders each count as a folder of their own. */
export const split: readonly string[] = ["controllers", "services"];

/** The type of what all use cases get. It names types of many folders, and these folders name it. */
export const composition = "services/service-deps.ts";

/**
 * The folders of src: the area under which results name them, and the risk of a mistake in them, by which fresh ones
 * are drawn. Risk 4: a mistake gives a browser or a secret to the wrong holder. 1: an answer is wrong. The longest
 * folder that fits a file counts.
 */

export const areaNames = ["leases", "agent", "reconcile", "http", "use-cases", "secrets", "rules", "local"] as const;

export type Area = (typeof areaNames)[number];

type Row = readonly [folder: string, area: Area, risk: number];

export const folders: readonly Row[] = [
  ["cli", "local", 1],
  ["cmd", "local", 1],
  ["core", "use-cases", 2],
  ["core/agent", "agent", 3],
  ["core/api", "http", 1],
  ["core/api-keys", "secrets", 4],
  ["core/config", "local", 1],
  ["core/gateway", "http", 4],
  ["core/http", "http", 1],
  ["core/http/middleware", "http", 3],
  ["core/leases", "leases", 4],
  ["core/metrics", "use-cases", 1],
  ["core/model", "rules", 2],
  ["core/pools", "reconcile", 2],
  ["core/pools/use-cases", "use-cases", 2],
  ["core/pools/inspect", "reconcile", 3],
  ["core/pools/plan", "reconcile", 3],
  ["core/projects", "use-cases", 2],
  ["core/protocol", "leases", 3],
  ["core/reconcile", "reconcile", 1],
  ["core/reservations", "leases", 3],
  ["core/sessions", "use-cases", 3],
  ["features", "use-cases", 1],
  ["features/code", "agent", 3],
  ["features/computer/agent", "agent", 2],
  ["features/curl/agent", "agent", 2],
  ["features/extensions/agent", "agent", 2],
  ["features/extensions/zip", "agent", 1],
  ["features/files/agent", "agent", 3],
  ["platform/zip", "agent", 1],
  ["features/live-view/agent", "agent", 2],
  ["features/network", "agent", 3],
  ["features/processes", "agent", 3],
  ["features/profiles", "use-cases", 2],
  ["features/profiles/archive", "agent", 2],
  ["features/proxies", "use-cases", 2],
  ["features/recordings/agent", "agent", 2],
  ["features/sites", "rules", 1],
  ["features/telemetry/agent", "agent", 2],
  ["features/vaults", "secrets", 4],
  ["features/vaults/connections", "secrets", 3],
  ["features/vaults/credentials", "secrets", 3],
  ["features/vaults/login-page", "http", 3],
  ["features/webdriver/agent", "agent", 2],
  ["features/webmcp/agent", "agent", 2],
  ["local", "local", 1],
  ["main.ts", "local", 1],
  ["platform", "rules", 2],
  ["platform/addresses", "rules", 2],
  ["platform/audit", "use-cases", 1],
  ["platform/base/sensitive.ts", "secrets", 4],
  ["platform/blobs", "use-cases", 2],
  ["platform/cdp", "agent", 2],
  ["platform/kinds", "rules", 1],
  ["platform/kube", "reconcile", 2],
  ["platform/metrics", "use-cases", 1],
  ["platform/net", "agent", 3],
  ["platform/process", "agent", 2],
  ["platform/redis", "leases", 3],
  ["platform/secrets", "secrets", 4],
];

const rowOf = (file: string): Row => {
  const fitting = folders.filter(([folder]) => file === folder || file.startsWith(`${folder}/`));
  const [row] = fitting.toSorted(([a], [b]) => b.length - a.length);
  if (!row) throw new Error(`${file} has no area: add its folder to test/mutations/areas.ts`);
  return row;
};

/** The area of a file below `src/`. Throws when it has none. */
export const areaOf = (file: string): Area => rowOf(file)[1];

/** How much a line of a file weighs when mistakes are drawn, 1 to 4. Throws when the file has no area. */
export const riskOf = (file: string): number => rowOf(file)[2];

/**
 * The folders of src: the area under which results name them, and the risk of a mistake in them, by which fresh ones are drawn. Risk 4:
 * a mistake gives a browser or a secret to the wrong holder. 1: an answer is wrong. The longest folder that fits a file counts.
 */

export const areaNames = ["leases", "agent", "controllers", "http", "services", "secrets", "rules", "local"] as const;

export type Area = (typeof areaNames)[number];

type Row = readonly [folder: string, area: Area, risk: number];

export const folders: readonly Row[] = [
  ["agent", "agent", 3],
  ["agent/bidi", "agent", 2],
  ["agent/replay", "agent", 2],
  ["agent/telemetry", "agent", 2],
  ["agent/view", "agent", 2],
  ["audit", "services", 1],
  ["await-with.ts", "rules", 2],
  ["blobs", "services", 2],
  ["bootstrap", "services", 2],
  ["cdp", "agent", 2],
  ["cmd", "local", 1],
  ["config.ts", "local", 1],
  ["controllers", "controllers", 1],
  ["controllers/browser-pool", "controllers", 2],
  ["controllers/browser-pool/inspect", "controllers", 3],
  ["controllers/browser-pool/plan", "controllers", 3],
  ["domain", "rules", 2],
  ["domain/webm", "rules", 1],
  ["environment.ts", "local", 1],
  ["errors.ts", "rules", 1],
  ["extension-zip", "agent", 1],
  ["fill", "secrets", 4],
  ["gateway", "http", 4],
  ["host-port.ts", "rules", 1],
  ["http", "http", 1],
  ["http/login", "http", 3],
  ["http/middleware", "http", 3],
  ["kube", "controllers", 2],
  ["leases", "leases", 4],
  ["listening-port.ts", "local", 1],
  ["local", "local", 1],
  ["log.ts", "rules", 2],
  ["main.ts", "local", 1],
  ["metrics", "services", 1],
  ["net", "agent", 3],
  ["probe", "local", 1],
  ["process", "agent", 2],
  ["profile-archive", "agent", 2],
  ["protocol", "leases", 3],
  ["redis", "leases", 3],
  ["registry", "rules", 1],
  ["resources", "rules", 1],
  ["retry.ts", "rules", 2],
  ["secrets", "secrets", 4],
  ["sensitive.ts", "secrets", 4],
  ["services", "services", 2],
  ["services/api-keys", "secrets", 4],
  ["services/connections", "secrets", 3],
  ["services/credentials", "secrets", 3],
  ["services/secrets", "secrets", 4],
  ["services/sessions", "services", 3],
  ["services/vaults", "secrets", 4],
  ["telemetry", "services", 1],
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

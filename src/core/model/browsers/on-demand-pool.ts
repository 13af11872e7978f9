import type { BrowserPoolSpec } from "../pools/browser-pool.ts";
import type { Location } from "../settings/location.ts";
import type { BrowserSpec } from "./browser.ts";

const settingsOf = ({ name: _, tags: __, vaults: ___, gpu, profile, ...settings }: BrowserSpec) => {
  const { saveChanges = false, ...selector } = profile ?? {};
  return {
    ...settings,
    ...(gpu && { gpu }),
    ...(profile && { profile: selector }),
    ...(saveChanges && { savesProfile: true }),
  };
};

/** The spec of a pool, or of an on-demand browser as one. Only an on-demand browser can have the further fields. */
export type PoolLikeSpec = BrowserPoolSpec & {
  gpu?: boolean | undefined;
  location?: Location | undefined;
  savesProfile?: boolean | undefined;
  reportOutcome?: boolean | undefined;
};

/** The spec of a pool of one whose browser is configured like this on-demand browser; nothing fills it. */
export const onDemandPoolSpec = (spec: BrowserSpec): PoolLikeSpec => ({
  ...settingsOf(spec),
  region: "us-east",
  // Never asked for: the browser is destroyed at the end of its one session.
  reusePolicy: "reset",
  serveOnDemand: false,
  size: 1,
  fillRatePerMinute: 0,
});

/** The request of an on-demand browser's lease (core/leases/records.ts). */
type OnDemandRequest = {
  timeout_seconds: number;
  max_session_seconds: number;
  /** The owner of the lease: the on-demand browser itself, or the pool that serves it. */
  pool: { id: string; uid: string };
  on_demand: true;
  project: string;
  name?: string;
  gpu?: true;
  tags?: Record<string, string>;
  vaults?: BrowserSpec["vaults"];
  with_vaults?: true;
  report?: SessionReport;
  keeps_files?: true;
};

/**
 * What the request of a session has that may report what it reaches (core/leases/records.ts). `recipe`: made and read
 * by the config registry.
 */
type SessionReport = { config: string; recipe: object };

/**
 * What the request of a session has whose caller allows a report; undefined when its browser has settings that no
 * lookup recommends. `namespace`: of the project.
 */
export type ReportOf = (spec: PoolLikeSpec, namespace: string) => Promise<SessionReport | undefined>;

/**
 * What is known besides the spec. `owner`: of the lease, by id and uid. `name`: of the session. `project`: the
 * project's id. `allowedSeconds`: the longest session here. `keepsFiles`: whether the installation keeps what sessions
 * leave in their folders.
 */
type OnDemandContext = {
  owner: { id: string; uid: string };
  name: string | undefined;
  project: string;
  allowedSeconds: number;
  report: SessionReport | undefined;
  keepsFiles: boolean;
};

/** The request for an on-demand browser's session; pure. */
export const onDemandRequest = (
  spec: BrowserSpec,
  { owner, name, project, allowedSeconds, report, keepsFiles }: OnDemandContext,
): OnDemandRequest => ({
  timeout_seconds: spec.timeoutSeconds,
  max_session_seconds: Math.min(spec.maxSessionSeconds ?? allowedSeconds, allowedSeconds),
  pool: owner,
  on_demand: true,
  project,
  ...(name && { name }),
  ...(spec.gpu && { gpu: true }),
  ...(spec.tags && { tags: spec.tags }),
  ...(spec.vaults.length > 0 && { vaults: spec.vaults, with_vaults: true as const }),
  ...(report && { report }),
  ...(keepsFiles && { keeps_files: true as const }),
});

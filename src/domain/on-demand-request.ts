import type { Browser, BrowserSpec } from "../resources/browser.ts";
import { wireName } from "../resources/identity.ts";

/** The parts of a lease's request (leases/records.ts) that say what an on-demand browser was asked for with. */
export type OnDemandRequest = {
  timeout_seconds: number;
  /** Where its lease is kept: with itself. */
  pool: { id: string; uid: string };
  on_demand: true;
  project: string;
  name?: string;
  gpu?: true;
  tags?: Record<string, string>;
  vaults?: BrowserSpec["vaults"];
};

/** What an on-demand browser's session was asked for with; pure. `project`: its id. */
export const onDemandRequest = (browser: Browser, project: string): OnDemandRequest => {
  const { metadata, spec } = browser;
  const name = wireName(browser);
  return {
    timeout_seconds: spec.timeoutSeconds,
    pool: { id: metadata.name, uid: metadata.uid },
    on_demand: true,
    project,
    ...(name && { name }),
    ...(spec.gpu && { gpu: true }),
    ...(spec.tags && { tags: spec.tags }),
    ...(spec.vaults.length > 0 && { vaults: spec.vaults }),
  };
};

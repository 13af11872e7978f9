/** Gives a blank browser, which its session holds, the settings that were asked for (core/protocol/browser-start.ts). */
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { LeaseRecord } from "../leases/records.ts";
import type { PoolLikeSpec } from "../model/browsers/on-demand-pool.ts";
import { agentConfigOf, needsSetup } from "../model/settings/browser-config.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import { SetupFailure, setupOf } from "../setups/read-setup.ts";
import type { Referents } from "../setups/referents.ts";
import { missingOf, sendArchives } from "../setups/send-archives.ts";

/** What it needs. */
export type StartBlankDeps = {
  blobs: BlobStore;
  kube: Kube;
  log: Logger;
  policies: PolicyReader;
  referents: Referents;
  setupClient: SetupClient;
};

/** Throws `SetupFailure` when the browser does not start. */
const start = async (
  lease: LeaseRecord,
  { spec, namespace }: { spec: PoolLikeSpec; namespace: string },
  deps: StartBlankDeps,
): Promise<void> => {
  const read = needsSetup(spec) ? await setupOf(spec, { namespace, browser: lease.browser }, deps) : undefined;
  const { session: session_id, epoch, seq } = lease;
  const wanted = { session_id, epoch, seq, browser: agentConfigOf(spec), ...(read && { setup: read.setup }) };
  const missing = missingOf(await deps.setupClient.sendStart(lease, wanted));
  if (!read || missing.length === 0) return;
  await sendArchives(lease, { missing, blobs: read.blobs }, deps);
  const left = missingOf(await deps.setupClient.sendStart(lease, wanted));
  if (left.length > 0) throw new SetupFailure("its agent misses archives");
};

/**
 * Whether the browser is up with these settings. If it is not, nobody else may have it: its lease must be ended. Throws
 * `not_supported_here`, and `unavailable` while objects can't be read.
 */
export const startBlank = async (...[lease, wanted, deps]: Parameters<typeof start>): Promise<boolean> => {
  try {
    await start(lease, wanted, deps);
    return true;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    const { session: session_id, pod } = lease;
    deps.log.warn({ session_id, pod, reason: error.message }, "a blank browser did not start");
    return false;
  }
};

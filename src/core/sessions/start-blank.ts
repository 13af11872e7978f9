/** Gives a blank browser, which its session holds, the settings that were asked for (core/protocol/browser-start.ts). */
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { LeaseRecord } from "../leases/records.ts";
import type { PoolLikeSpec } from "../model/browsers/on-demand-pool.ts";
import { agentConfigOf, needsSetup } from "../model/settings/browser-config.ts";
import type { PolicyReader } from "../policies/policy-reader.ts";
import type { StartBrowser } from "../protocol/browser-start.ts";
import { SetupFailure, type SetupToDeliver, setupOf } from "../setups/read-setup.ts";
import type { Referents } from "../setups/referents.ts";

/** What it needs. */
export type StartBlankDeps = {
  blobs: BlobStore;
  kube: Kube;
  log: Logger;
  policies: PolicyReader;
  referents: Referents;
  setupClient: SetupClient;
};

/** Longest delivery of an archive, ms. */
const archiveMs = 5 * 60_000;

type Held = { lease: LeaseRecord; start: StartBrowser; blobs: SetupToDeliver["blobs"] };

/** Sends what the agent misses. Returns why it does not have all of it. */
const sendArchives = async (
  missing: readonly string[],
  { lease, blobs }: Held,
  deps: StartBlankDeps,
): Promise<string | undefined> => {
  for (const sha256 of missing) {
    const blob = await deps.blobs.get(blobs.get(sha256) ?? "", { signal: AbortSignal.timeout(archiveMs) });
    if (!blob) return "an archive is not stored any more";
    const sent = await deps.setupClient.sendArchive(lease, { sha256, bytes: blob.bytes }, blob.body);
    if (sent.kind !== "ok") return "its agent did not take an archive";
  }
  return undefined;
};

/** Returns why the browser is not up; undefined when it is. */
const send = async (held: Held, deps: StartBlankDeps): Promise<string | undefined> => {
  const { lease, start } = held;
  const first = await deps.setupClient.sendStart(lease, start);
  if (first.kind !== "ok") return first.kind === "refused" ? first.code : first.reason;
  if (first.missing.length === 0) return undefined;
  const whyNot = await sendArchives(first.missing, held, deps);
  if (whyNot !== undefined) return whyNot;
  const last = await deps.setupClient.sendStart(lease, start);
  if (last.kind !== "ok") return last.kind === "refused" ? last.code : last.reason;
  return last.missing.length === 0 ? undefined : "its agent misses archives";
};

/** What the settings need besides; undefined while that can't be read, which a start of its own waits for. */
const readSetup = async (
  spec: PoolLikeSpec,
  place: { browser: string; namespace: string },
  deps: StartBlankDeps,
): Promise<SetupToDeliver | undefined> => {
  try {
    return await setupOf(spec, place, deps);
  } catch (error) {
    if (error instanceof SetupFailure) return undefined;
    throw error;
  }
};

/**
 * Whether the browser is up with these settings. If it is not, nobody else may have it: its lease must be ended. Throws
 * `not_supported_here`, and `unavailable` while objects can't be read.
 */
export const startBlank = async (
  lease: LeaseRecord,
  { spec, namespace }: { spec: PoolLikeSpec; namespace: string },
  deps: StartBlankDeps,
): Promise<boolean> => {
  const needs = needsSetup(spec);
  const read = needs ? await readSetup(spec, { namespace, browser: lease.browser }, deps) : undefined;
  if (needs && !read) return false;
  const start: StartBrowser = {
    session_id: lease.session,
    epoch: lease.epoch,
    seq: lease.seq,
    browser: agentConfigOf(spec),
    ...(read && { setup: read.setup }),
  };
  const whyNot = await send({ lease, start, blobs: read?.blobs ?? new Map() }, deps);
  if (whyNot !== undefined)
    deps.log.warn({ session_id: lease.session, pod: lease.pod, reason: whyNot }, "a blank browser did not start");
  return whyNot === undefined;
};

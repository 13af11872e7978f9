/** One try to fetch a browser's profile from its agent and to save it. */

import type { AgentPlace } from "../../core/leases/agent/agent-call.ts";
import type { SaveState } from "../../core/pools/observe/observed.ts";
import { addressOf, savedProfile } from "../../core/pools/pod/pod.ts";
import type { ProfileSaveState } from "../../core/protocol/profile-save.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import { keyOf, type Pod } from "../../platform/kube/objects.ts";
import { ArchiveBroken, type ProfileClient } from "./profile-client.ts";
import { type Saved, saveProfile } from "./profile-versions.ts";

export type FetchProfileDeps = {
  kube: Kube;
  blobs: BlobStore;
  client: Pick<ProfileClient, "archive">;
  lead: Lead;
  /** ms since the epoch. */
  now: () => number;
  log: Logger;
};

/** Longest time to fetch and save an archive, ms. */
const saveMs = 5 * 60_000;

/** Where the agent of a pod listens. */
export const agentOf = (pod: Pod): AgentPlace => ({
  browser: pod.metadata.uid,
  pod: pod.metadata.name,
  address: addressOf(pod),
});

const outcomeOf = (saved: Saved): SaveState => {
  if (saved.is === "gone") return { is: "failed", why: "the profile was deleted" };
  return saved.is === "overtaken" ? { is: "waiting" } : saved;
};

/** What follows from a save that failed. Its owner is told nothing of the service's inside. */
const afterError = (error: unknown): SaveState => {
  if (error instanceof AppError && error.code === "not_supported_here") return { is: "failed", why: error.message };
  const isTold = error instanceof ArchiveBroken || error instanceof AppError;
  return { is: "waiting", why: isTold ? error.message : "it could not be saved yet" };
};

/**
 * Saves the archive that the agent of this pod has packed. `waiting`: to be tried again. Only the profile that the pod was made for is
 * written to, whatever the agent says. Throws when `signal` is aborted, and when this replica does not lead any more.
 */
export const fetchProfile = async (
  { pod, packed }: { pod: Pod; packed: ProfileSaveState & { is: "packed" } },
  deps: FetchProfileDeps,
  signal: AbortSignal,
): Promise<SaveState> => {
  const profile = savedProfile(pod);
  if (profile?.uid !== packed.save_to)
    return { is: "failed", why: "its settings name another profile than when its pod was made" };
  const stop = AbortSignal.any([signal, deps.lead.signal]);
  const limit = AbortSignal.any([stop, AbortSignal.timeout(saveMs)]);
  try {
    const body = deps.client.archive(agentOf(pod), packed, limit);
    const endMs = deps.now() - packed.ended_ms_ago;
    return outcomeOf(await saveProfile({ profile, body, sha256: packed.sha256, endMs }, deps, limit));
  } catch (error) {
    stop.throwIfAborted();
    deps.lead.check();
    deps.log.warn({ err: error, pod: keyOf(pod.metadata) }, "a profile could not be saved; trying again");
    return afterError(error);
  }
};

/**
 * The versions of a profile's contents. The profile's status says which one counts; the store's list says what there is.
 *
 *   claim a number ──► put the contents under it ──► make it the version, unless a later save did so first ──► delete older contents
 *
 * A crash after the put leaves contents that no status names as the version; the next save, round or deletion of the
 * profile removes them. Nothing removes contents whose profile is not there: it may come back.
 */

import { isNewUse } from "../../core/pools/plan/profile-use.ts";
import { doubling, retry } from "../../platform/base/retry.ts";
import type { BlobStore, StoredBlob } from "../../platform/blobs/blob-store.ts";
import { copyBlob } from "../../platform/blobs/copy-blob.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { hasReason } from "../../platform/kube/kube-error.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import type { Ref } from "../../platform/kube/objects.ts";
import {
  emptyProfileStatus,
  type Profile,
  type ProfileStatus,
  profileBlobKey,
  profileFolder,
  profileKind,
} from "./profile.ts";
import { archiveName, listArchives, listFormer } from "./saved-archives.ts";

export type ProfileVersionsDeps = {
  kube: Kube;
  blobs: BlobStore;
  lead: Pick<Lead, "check">;
  /** ms since the epoch. */
  now: () => number;
};

const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** Longest deletion of one version, ms. */
const deleteMs = 30_000;

/** Safe to repeat. Throws `unavailable`. */
const deleteKeys = async (keys: string[], { blobs }: Pick<ProfileVersionsDeps, "blobs">): Promise<void> => {
  for (const key of keys) await blobs.delete(key, { signal: AbortSignal.timeout(deleteMs) });
};

type Change = (profile: Profile) => Partial<ProfileStatus> | undefined;

/** Tries to write over concurrent changes: of other saves, and of the profile's rounds. */
const changeTries = 10;

/**
 * Changes the status from its newest state; `change` gives undefined to leave it alone. Returns undefined when the
 * profile is gone.
 */
const changeStatus = (
  profile: { uid: string } & Ref,
  change: Change,
  { kube, lead }: Pick<ProfileVersionsDeps, "kube" | "lead">,
): Promise<Profile | undefined> =>
  retry(
    async () => {
      const current = await kube.get(profileKind, profile);
      if (!current || current.metadata.uid !== profile.uid || current.metadata.deletionTimestamp) return undefined;
      const status = change(current);
      if (!status) return current;
      lead.check();
      const next = { ...current, status: { ...(current.status ?? emptyProfileStatus), ...status } };
      return kube.replace(profileKind, next, { subresource: "status" });
    },
    {
      isCurable: (error) => hasReason(error, "Conflict"),
      pauseMs: (failures) => doubling(10, 500)(failures) * Math.random(),
      tries: changeTries,
    },
  );

/** Deletes all contents of a profile. Safe to repeat. Throws `unavailable`. */
export const deleteContents = async (profile: Profile, deps: Pick<ProfileVersionsDeps, "blobs">): Promise<void> => {
  const archives = await listArchives(profile, deps.blobs);
  const former = await listFormer(profile, deps.blobs);
  await deleteKeys([...archives.map(({ key }) => key), ...former], deps);
};

/** Deletes contents that an older version had, or a save that failed. */
export const sweepVersions = async (profile: Profile, deps: ProfileVersionsDeps): Promise<void> => {
  const { version, oldestVersion, archive } = profile.status ?? emptyProfileStatus;
  if (oldestVersion >= version || archive === undefined) return;
  const older = (await listArchives(profile, deps.blobs)).filter((one) => one.version < version);
  const former = await listFormer(profile, deps.blobs);
  await deleteKeys([...older.map(({ key }) => key), ...former], deps);
  const isBehind = (current: Profile): boolean => (current.status?.oldestVersion ?? 0) < version;
  await changeStatus(
    { ...profile.metadata },
    (current) => (isBehind(current) ? { oldestVersion: version } : undefined),
    deps,
  );
};

/** Longest move of an archive, ms. */
const moveMs = 5 * 60_000;

/**
 * Moves the archive that an older release stored to where it is found again. Until then it stays where it is. Safe to
 * repeat. Throws `unavailable`.
 */
export const moveFormer = async (profile: Profile, deps: ProfileVersionsDeps): Promise<void> => {
  const { version, archive, sha256, browserEndTime } = profile.status ?? emptyProfileStatus;
  if (version === 0 || archive !== undefined || sha256 === undefined) return;
  const endMs = Date.parse(browserEndTime ?? rfc3339(0));
  const name = archiveName({ version, endMs, sha256 });
  const move = { from: profileBlobKey(profile), to: `${profileFolder(profile)}/${name}` };
  if (!(await copyBlob(deps.blobs, move, AbortSignal.timeout(moveMs)))) return;
  const isOf = ({ status }: Profile): boolean => status?.version === version && status.archive === undefined;
  // The sweep of the next round deletes what was there.
  const moved = { archive: name, oldestVersion: 0 };
  await changeStatus({ ...profile.metadata }, (current) => (isOf(current) ? moved : undefined), deps);
};

/** `sha256`: of `body`, in hex. `endMs`: when the browser ended whose state this is, ms since the epoch. */
type ProfileSave = {
  profile: { uid: string } & Ref;
  body: AsyncIterable<Uint8Array>;
  sha256: string;
  endMs: number;
};

export type Saved = { is: "saved"; version: number } | { is: "superseded" } | { is: "overtaken" } | { is: "gone" };

/**
 * Whether a save is behind the profile's version. `overtaken`: by the number of a save that began later, whose browser
 * ended earlier. `superseded`: by the state of a browser that ended later.
 */
const whyBehind = (
  { version, browserEndTime = "" }: ProfileStatus,
  { claimed, endTime }: { claimed: number; endTime: string },
): "superseded" | "overtaken" | undefined => {
  if (browserEndTime > endTime) return "superseded";
  return version > claimed ? "overtaken" : undefined;
};

/**
 * Saves contents (a tar.zst) as the profile's newest version, unless the version is of a browser that ended later.
 * `overtaken`: nothing is saved, and the same again will be. `gone`: so is the profile, and nothing is kept. Throws
 * `unavailable`, and what `body` throws.
 */
export const saveProfile = async (
  { profile, body, sha256, endMs }: ProfileSave,
  deps: ProfileVersionsDeps,
  signal: AbortSignal,
): Promise<Saved> => {
  const endTime = rfc3339(endMs);
  let claimed = 0;
  let isThere = false;
  const claim: Change = ({ status }) => {
    // A replica that died after this save may not have told anybody.
    isThere = status?.sha256 === sha256;
    if (isThere) return undefined;
    claimed = Math.max(status?.claimedVersion ?? 0, status?.version ?? 0) + 1;
    return { claimedVersion: claimed };
  };
  const before = await changeStatus(profile, claim, deps);
  if (!before) return { is: "gone" };
  if (isThere) return { is: "saved", version: before.status?.version ?? 0 };
  const archive = archiveName({ version: claimed, endMs: Date.parse(endTime), sha256 });
  const key = `${profileFolder(before)}/${archive}`;
  const stored: StoredBlob = await deps.blobs.put(key, body, { signal });
  const { bytes: sizeBytes } = stored;
  const contents = { version: claimed, archive, sha256: stored.sha256, sizeBytes, browserEndTime: endTime };
  let behind: "superseded" | "overtaken" | undefined;
  const commit: Change = ({ status = emptyProfileStatus }) => {
    behind = whyBehind(status, { claimed, endTime });
    return behind ? undefined : { ...contents, savedTime: rfc3339(deps.now()) };
  };
  const after = await changeStatus(profile, commit, deps);
  const isSaved = after !== undefined && behind === undefined;
  const tidy = async (): Promise<void> => {
    if (!isSaved) await deleteKeys([key], deps);
    if (after) await sweepVersions(after, deps);
  };
  // What this leaves, the profile's next round removes: the outcome stands.
  await tidy().catch(() => undefined);
  if (!after) return { is: "gone" };
  return behind ? { is: behind } : { is: "saved", version: claimed };
};

/** Notes that a browser has started with the profile now, unless another one has within the last minute. */
export const noteProfileUse = async (
  profile: { uid: string } & Ref,
  deps: Pick<ProfileVersionsDeps, "kube" | "lead" | "now">,
): Promise<void> => {
  const nowMs = deps.now();
  const note: Change = ({ status }) =>
    isNewUse(Date.parse(status?.lastUsedTime ?? rfc3339(0)), nowMs) ? { lastUsedTime: rfc3339(nowMs) } : undefined;
  await changeStatus(profile, note, deps);
};

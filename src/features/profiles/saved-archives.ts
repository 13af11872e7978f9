/**
 * The archives of a profile, as the store alone knows them. Each one's name says of which version it is, when its
 * browser ended, and its digest. So a profile that comes back without its status finds again what was saved in it.
 */
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { formerFolder, type Profile, type ProfileStatus, profileFolder } from "./profile.ts";

/** Longest look into the store, ms. */
const listMs = 30_000;

/** `endMs`: when the browser ended, ms since the epoch. `sha256`: in hex. */
type ArchiveName = { version: number; endMs: number; sha256: string };

/** The name of an archive in its profile's folder. */
export const archiveName = ({ version, endMs, sha256 }: ArchiveName): string => `${version}-${endMs}-${sha256}`;

const pattern = /\/([0-9]{1,15})-([0-9]{1,15})-([0-9a-f]{64})$/;

const readKey = (key: string): ArchiveName | undefined => {
  const [, version, endMs, sha256 = ""] = pattern.exec(key) ?? [];
  return version === undefined ? undefined : { version: Number(version), endMs: Number(endMs), sha256 };
};

/** An archive in the store. `storedMs`: since the epoch. */
type SavedArchive = ArchiveName & { key: string; bytes: number; storedMs: number };

/** Everything that is stored of a profile. Throws `unavailable`. */
export const listArchives = async (profile: Profile, blobs: Pick<BlobStore, "list">): Promise<SavedArchive[]> => {
  const found: SavedArchive[] = [];
  for await (const blob of blobs.list(profileFolder(profile), { signal: AbortSignal.timeout(listMs) })) {
    const name = readKey(blob.key);
    if (name) found.push({ ...name, ...blob });
  }
  return found;
};

/** The keys of what older releases stored of a profile. Throws `unavailable`. */
export const listFormer = async (profile: Profile, blobs: Pick<BlobStore, "list">): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of blobs.list(formerFolder(profile), { signal: AbortSignal.timeout(listMs) }))
    keys.push(key);
  return keys;
};

const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** What a status says of the archive of the browser that ended last; undefined without any. */
export const statusOfArchives = (archives: readonly SavedArchive[]): Partial<ProfileStatus> | undefined => {
  const last = archives.toSorted((a, b) => a.endMs - b.endMs || a.version - b.version).at(-1);
  if (!last) return undefined;
  return {
    version: last.version,
    sha256: last.sha256,
    sizeBytes: last.bytes,
    archive: archiveName(last),
    savedTime: rfc3339(Math.floor(last.storedMs)),
    browserEndTime: rfc3339(last.endMs),
    claimedVersion: Math.max(...archives.map(({ version }) => version)),
  };
};

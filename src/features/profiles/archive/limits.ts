/** Bounds of a profile's archive. What is beyond them is neither packed nor unpacked. */
export const archiveLimits = {
  /** Of the archive itself (tar.zst), bytes. */
  packedBytes: 256 * 1024 ** 2,
  /** Of all files together, bytes. */
  bytes: 1024 ** 3,
  /** Files and folders. A profile of daily use has some thousands. */
  entries: 50_000,
  /** Of a path, bytes and folders. */
  pathBytes: 1024,
  depth: 32,
  /** Of a name in it, bytes: what file systems take. */
  nameBytes: 255,
};

export type ArchiveLimits = typeof archiveLimits;

/**
 * A profile or an archive that breaks a limit or a rule of archives. The message says which, and names no content but
 * paths.
 */
export class ProfileArchiveError extends Error {
  override name = "ProfileArchiveError";
}

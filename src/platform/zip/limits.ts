/** Bounds of an archive. Whoever reads one says how large it may be. */

/** Longest part of a path, bytes: what file systems take. */
export const maxSegmentBytes = 255;

/** Longest path, bytes: a quarter of what Linux takes, as it gets a folder in front. */
export const maxPathBytes = 1024;

export type ZipLimits = {
  /** Largest archive, bytes. */
  archiveBytes: number;
  /** Most files and folders of one archive together, also folders that only the names of files imply. */
  nodes: number;
  /** Most bytes that may come out of an archive of this size, all its files together; counted as they are inflated. */
  unpackedBytes(archiveBytes: number): number;
};

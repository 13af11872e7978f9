/**
 * The bounds of an extension's archive. They are generous: the largest extensions of the Chrome Web Store have some 30
 * MiB and 5000 files.
 */

const mebibyte = 1024 * 1024;

/** Largest archive, bytes. */
export const maxArchiveBytes = 50 * mebibyte;

/** Most bytes that the files of one archive have together, counted as they are inflated. */
const maxUnpackedBytes = 200 * mebibyte;

/** Most files and folders of one archive together, also folders that only the names of files imply. */
export const maxNodes = 10_000;

/**
 * Most bytes that come out for each byte of the whole archive. A single file may be denser: 1 MiB of spaces shrinks to
 * a thousandth.
 */
const maxRatio = 100;

/** What comes out of the smallest archives too: there the ratio says nothing. */
const alwaysAllowedBytes = mebibyte;

/** Longest part of a path, bytes: what file systems take. */
export const maxSegmentBytes = 255;

/** Longest path, bytes: a quarter of what Linux takes, as it gets a folder in front. */
export const maxPathBytes = 1024;

/** Largest manifest.json, bytes. */
export const maxManifestBytes = mebibyte;

/** Most bytes that may come out of an archive of this size, all its files together. */
export const unpackedBudget = (archiveBytes: number): number =>
  Math.min(maxUnpackedBytes, Math.max(alwaysAllowedBytes, maxRatio * archiveBytes));

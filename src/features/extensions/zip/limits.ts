/**
 * The bounds of an extension's archive. They are generous: the largest extensions of the Chrome Web Store have some 30
 * MiB and 5000 files.
 */
import type { ZipLimits } from "../../../platform/zip/limits.ts";

const mebibyte = 1024 * 1024;

/** Most bytes that the files of one archive have together, counted as they are inflated. */
const maxUnpackedBytes = 200 * mebibyte;

/**
 * Most bytes that come out for each byte of the whole archive. A single file may be denser: 1 MiB of spaces shrinks to
 * a thousandth.
 */
const maxRatio = 100;

/** What comes out of the smallest archives too: there the ratio says nothing. */
const alwaysAllowedBytes = mebibyte;

/** Largest manifest.json, bytes. */
export const maxManifestBytes = mebibyte;

/** Of an extension's archive. */
export const extensionLimits: ZipLimits = {
  archiveBytes: 50 * mebibyte,
  nodes: 10_000,
  unpackedBytes: (archiveBytes) => Math.min(maxUnpackedBytes, Math.max(alwaysAllowedBytes, maxRatio * archiveBytes)),
};

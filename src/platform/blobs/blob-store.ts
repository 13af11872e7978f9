/**
 * The store of archives and videos: profiles, extensions, recordings. Two implementations, a folder and S3
 * (docs/adr/0030-the-blob-store.md).
 */

type BlobCall = { signal: AbortSignal };

/** A part of a blob: from the byte `start` up to `end`, which is not part of it. Both are within the blob. */
export type BlobRange = { start: number; end: number };

/** A blob that there is, its size, and when it was stored, ms since 1970. */
export type ListedBlob = { key: string; bytes: number; storedMs: number };

/** Size and digest of what was stored; `sha256` in hex. */
export type StoredBlob = { bytes: number; sha256: string };

/**
 * A blob that is read, or a part of it. `bytes`: of the body. The caller reads `body` once, or aborts the call's
 * signal: until then a file or a connection is open.
 */
export type OpenBlob = { bytes: number; body: AsyncIterable<Uint8Array> };

/**
 * Every call throws an `AppError` `unavailable` when the store does not serve now, `not_supported_here` when the
 * installation has none, and the signal's reason when the signal is aborted. `body` of a blob that is read throws the
 * same.
 */
export type BlobStore = {
  /**
   * Stores the bytes under `key`, whole or not at all, over what was there. An error of `body` is thrown as it is. A
   * call that fails after all bytes were sent may have stored them.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options: BlobCall): Promise<StoredBlob>;
  /** Opens the blob; undefined when there is none. `range`: left out, the whole. */
  get(key: string, options: BlobCall & { range?: BlobRange }): Promise<OpenBlob | undefined>;
  /** Deletes it; nothing happens when there is none. */
  delete(key: string, options: BlobCall): Promise<void>;
  /** The blobs whose keys begin with `<folder>/`, in no order. Those that come or go meanwhile may be in it or not. */
  list(folder: string, options: BlobCall): AsyncIterable<ListedBlob>;
  /** Whether the store answers now. */
  check(options: BlobCall): Promise<void>;
};

/** No dots: a key can't name a file of the store's own, nor a folder above it. */
const keyPattern = /^[a-z0-9][a-z0-9-]{0,127}(\/[a-z0-9][a-z0-9-]{0,127}){0,3}$/;

/**
 * Throws when `key` is none of ours, e.g. `extensions/<namespace>/<name>`. Keys are made by the program, so that is
 * a defect.
 */
export const checkKey = (key: string): void => {
  if (!keyPattern.test(key)) throw new Error(`bad key of a blob: ${JSON.stringify(key.slice(0, 200))}`);
};

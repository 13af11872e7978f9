import type { Referable } from "../model/settings/references.ts";
import type { ArchiveRef, ParentProxy } from "../protocol/browser-setup.ts";

/** An archive, and its key in the store of blobs. */
export type StoredArchive = ArchiveRef & { key: string };

/** `id`, `name`: of the extension, for its folder and for messages. */
export type StoredExtension = StoredArchive & { id: string; name: string };

/** What features know of the objects that settings refer to, each of the kind of its feature. */
export type Referents = {
  /**
   * A proxy as agents connect to it, with its secrets. `browser`: what a provider keeps one address for. Throws
   * `not_supported_here` when the installation can't carry the proxy out.
   */
  openProxy(proxy: Referable, browser: string): Promise<ParentProxy>;
  /**
   * The archive of the profile's present version, if there is one yet. Throws `unavailable` while nobody knows whether
   * there is one.
   */
  profile(profile: Referable): Promise<StoredArchive | undefined>;
  /** Undefined while its upload is not over. */
  extension(extension: Referable): StoredExtension | undefined;
};

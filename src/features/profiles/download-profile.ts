import { Readable } from "node:stream";
import { constants, createZstdDecompress } from "node:zlib";
import { fetchObject } from "../../core/objects/fetch-object.ts";
import type { Project } from "../../core/projects/projects.ts";
import { AppError } from "../../platform/base/errors.ts";
import type { BlobStore, OpenBlob } from "../../platform/blobs/blob-store.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { type Profile, type ProfileFormat, profileBlobKey, profileKind } from "./profile.ts";
import { fetchProfile } from "./profiles.ts";

type Deps = { blobs: BlobStore; kube: Kube };

/** `name`: a file name. `bytes`: undefined when it is not known before. */
type ProfileDownload = { name: string; bytes: number | undefined; body: AsyncIterable<Uint8Array> };

/**
 * Longest download, ms. A caller that takes it more slowly would hold a connection to the store for as long as it
 * likes.
 */
const downloadMs = 30 * 60_000;

/**
 * Largest window of an archive that is unpacked, as a power of 2: memory for each download, bytes. The agents' archives
 * have 2^21.
 */
const maxWindowLog = 23;

/** Most bytes of an unpacked archive; no agent stores more (archive/limits.ts). */
const maxTarBytes = 1024 ** 3;

const unpacked = async function* (packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed, { objectMode: false });
  const unpack = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog } });
  source.on("error", (error) => unpack.destroy(error));
  let bytes = 0;
  try {
    for await (const chunk of source.pipe(unpack) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > maxTarBytes) throw new Error("the archive of a profile is larger than any that is stored");
      yield chunk;
    }
  } finally {
    source.destroy();
    unpack.destroy();
  }
};

/** Tries to open the current version: each save replaces the one before it. */
const openTries = 3;

const openCurrent = async (profile: Profile, project: Project, deps: Deps, signal: AbortSignal): Promise<OpenBlob> => {
  const shown = wireName(profile) ?? wireId(profile);
  let current: Profile | undefined = profile;
  for (let tries = 1; tries <= openTries && current; tries++) {
    const version = current.status?.version ?? 0;
    if (version === 0)
      throw new AppError(
        "not_found",
        `nothing is saved in the profile ${shown} yet: end a browser that saves its changes to it`,
      );
    const blob = await deps.blobs.get(profileBlobKey(current), { signal });
    if (blob) return blob;
    current = await fetchObject(profileKind, { id: wireId(profile), project }, deps);
  }
  throw new AppError("not_found", `the contents of the profile ${shown} are no longer in the store of blobs`);
};

/**
 * Opens the contents of a profile. Throws `not_found`, also when nothing was saved yet, `unavailable`, and
 * `not_supported_here` when there is no store. `signal`: ends the download.
 */
export const downloadProfile = async (
  { idOrName, format, project }: { idOrName: string; format: ProfileFormat; project: Project },
  deps: Deps,
  signal: AbortSignal,
): Promise<ProfileDownload> => {
  const profile = await fetchProfile(idOrName, project, deps);
  const untilEnd = AbortSignal.any([signal, AbortSignal.timeout(downloadMs)]);
  const { bytes, body } = await openCurrent(profile, project, deps, untilEnd);
  const name = `${wireName(profile) ?? wireId(profile)}.${format}`;
  return format === "tar" ? { name, bytes: undefined, body: unpacked(body) } : { name, bytes, body };
};

import type { FileHandle } from "node:fs/promises";
import type { Config } from "../../core/config/config.ts";
import type { LeaseStore } from "../../core/leases/lease-store.ts";
import { fetchNamedObject, fetchObjects } from "../../core/objects/fetch-object.ts";
import { newId } from "../../core/objects/new-id.ts";
import { requireBytes } from "../../core/objects/project-quota.ts";
import { requireUnused } from "../../core/objects/references.ts";
import { withFreeName } from "../../core/objects/with-free-name.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { StoredExtension as ReferredExtension } from "../../core/setups/referents.ts";
import { AppError, invalidInput, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore, OpenBlob } from "../../platform/blobs/blob-store.ts";
import { createdAt, wireId, wireName } from "../../platform/kinds/identity.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { ArchiveRefused } from "../../platform/zip/archive-refused.ts";
import {
  archiveKey,
  type Extension,
  type ExtensionAnswer,
  type ExtensionSpec,
  extensionKind,
  formerKey,
  isFormer,
  type UploadExtension,
  uploadUntilAnnotation,
} from "./extension.ts";
import { type CheckedExtension, checkExtensionZip } from "./zip/check-extension-zip.ts";

/** An extension whose archive is stored. */
type StoredExtension = Extension & { spec: { archive: NonNullable<ExtensionSpec["archive"]> } };

const isStored = (extension: Extension): extension is StoredExtension => extension.spec.archive !== undefined;

/** Fetches the extensions of a project whose archives are stored, oldest first. */
export const fetchExtensions = async (
  project: Pick<Project, "namespace">,
  deps: { kube: Kube },
): Promise<StoredExtension[]> => (await fetchObjects(extensionKind, project, deps)).filter(isStored);

/** Fetches an extension by id, else by name. Throws `not_found`, also while its archive is being uploaded. */
export const fetchExtension = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube },
): Promise<StoredExtension> => {
  const extension = await fetchNamedObject(extensionKind, { idOrName, project, what: "extension" }, deps);
  if (!isStored(extension)) throw new AppError("not_found", `the extension ${idOrName} has no archive`);
  return extension;
};

/** An extension as HTTP answers show it. */
export const extensionAnswer = (extension: StoredExtension): ExtensionAnswer => ({
  id: wireId(extension),
  name: wireName(extension) ?? null,
  created_at: createdAt(extension),
  size_bytes: extension.spec.archive.sizeBytes,
  checksum: extension.spec.archive.sha256,
});

// The upload of an extension, whole or not at all:
//
//   1. check the archive, which is in a file of this replica,
//   2. create the object, which reserves the name; nothing shows it, because it has no archive,
//   3. store the archive under the object's name,
//   4. write size and digest into the object: from then on it is there.
//
// So no object refers to an archive that is not stored. When a step fails, the object is deleted, and the operator
// deletes what was stored with it. A replica that dies leaves an object that says until when its upload may take; the
// operator deletes it then.

type UploadDeps = { blobs: BlobStore; config: Config; kube: Kube; locks: Locks; log: Logger };

/** How long the steps after the check may take, ms. */
const storeMs = 2 * 60_000;

/** The operator's clock may be ahead of ours, and its deletion must not meet the last step. */
const clockMarginMs = 5 * 60_000;

const presentKey = (extension: Extension): string => (isFormer(extension) ? formerKey : archiveKey)(extension);

const checked = async (file: FileHandle, signal: AbortSignal): Promise<CheckedExtension> => {
  try {
    return await checkExtensionZip(file, { signal });
  } catch (error) {
    if (error instanceof ArchiveRefused)
      throw invalidInput([{ code: error.rule, path: "file", message: error.message }]);
    throw error;
  }
};

/** Throws `conflict` when the archives of the project would have more bytes than they may (LIMIT-36). */
const requireRoom = async (file: FileHandle, project: Project, { kube, config }: UploadDeps): Promise<void> => {
  const { size } = await file.stat();
  const extensions = await fetchObjects(extensionKind, project, { kube });
  const stored = extensions.reduce((sum, { spec }) => sum + (spec.archive?.sizeBytes ?? 0), 0);
  requireBytes({
    what: "with this one the extensions of this project have",
    bytes: stored + size,
    most: config.limits.extensionBytesPerProject,
    way: "delete some",
    setting: "BROWSERPOOL_EXTENSION_BYTES_PER_PROJECT",
  });
};

const create = async (name: string | undefined, project: Project, { kube }: UploadDeps): Promise<Extension> => {
  const until = new Date(Date.now() + storeMs + clockMarginMs).toISOString();
  return kube.create(extensionKind, {
    metadata: {
      name: newId(),
      namespace: project.namespace,
      finalizers: [blobsFinalizer],
      annotations: { [uploadUntilAnnotation]: until },
    },
    spec: { ...(name !== undefined && { name }) },
  });
};

/** Creates the object under a lock, so that no other upload gets the same name. Throws `name_taken`. */
const reserve = async ({ name }: UploadExtension, project: Project, deps: UploadDeps): Promise<Extension> => {
  if (name === undefined) return create(name, project, deps);
  return withFreeName(extensionKind, { name, what: "extension", project }, deps, () => create(name, project, deps));
};

const store = async (
  extension: Extension,
  { file, manifest }: { file: FileHandle; manifest: CheckedExtension },
  signal: AbortSignal,
  { kube, blobs }: UploadDeps,
): Promise<StoredExtension> => {
  const body = file.createReadStream({ start: 0, autoClose: false });
  const { bytes, sha256 } = await blobs.put(archiveKey(extension), body, { signal });
  const archive = { sha256, sizeBytes: bytes, name: manifest.name, version: manifest.version };
  const stored = await kube.patch(extensionKind, extension.metadata, {
    metadata: { annotations: { [uploadUntilAnnotation]: null }, uid: extension.metadata.uid },
    spec: { archive },
  });
  return { ...stored, spec: { ...stored.spec, archive } };
};

/**
 * Stores an extension. `file`: the uploaded archive, which stays the caller's. Throws `bad_request` with the rule that
 * the archive breaks, `name_taken`, `conflict` above the bytes of the project, `not_supported_here` without a store,
 * and `unavailable`.
 */
export const uploadExtension = async (
  { request, file }: { request: UploadExtension; file: FileHandle },
  { project, signal }: { project: Project; signal: AbortSignal },
  deps: UploadDeps,
): Promise<StoredExtension> => {
  const manifest = await checked(file, signal);
  await requireRoom(file, project, deps);
  const extension = await reserve(request, project, deps);
  const untilLate = AbortSignal.any([signal, AbortSignal.timeout(storeMs)]);
  try {
    return await store(extension, { file, manifest }, untilLate, deps);
  } catch (error) {
    await deps.kube.delete(extensionKind, extension.metadata, { uid: extension.metadata.uid }).catch((cause) => {
      deps.log.warn({ extension: extension.metadata.name, cause: String(cause) }, "an upload's object is left over");
    });
    throw error;
  }
};

/**
 * Opens the archive of an extension, byte by byte as it was uploaded. `name`: of the file. Throws `not_found`, and
 * `unavailable` when the store does not have it.
 */
export const openExtension = async (
  idOrName: string,
  { project, signal }: { project: Project; signal: AbortSignal },
  deps: { blobs: BlobStore; kube: Kube },
): Promise<OpenBlob & { name: string }> => {
  const extension = await fetchExtension(idOrName, project, deps);
  const archive = await deps.blobs.get(presentKey(extension), { signal });
  if (!archive) throw unavailable(`the archive of the extension ${wireName(extension) ?? wireId(extension)}`);
  return { ...archive, name: `${wireName(extension) ?? wireId(extension)}.zip` };
};

/**
 * Deletes an extension; the operator deletes its archive. Throws `not_found`, and `conflict` when something uses it.
 */
export const deleteExtension = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; store: LeaseStore },
): Promise<void> => {
  const extension = await fetchExtension(idOrName, project, deps);
  await requireUnused({ kind: "Extension", object: extension, what: "extension" }, project, deps);
  await deps.kube.delete(extensionKind, extension.metadata, { uid: extension.metadata.uid });
};

/** The archive of an extension; undefined while its upload is not over. */
export const storedArchive = (extension: Extension): ReferredExtension | undefined => {
  const { metadata, spec } = extension;
  if (!spec.archive) return undefined;
  const { sha256, sizeBytes } = spec.archive;
  return {
    id: metadata.uid,
    name: wireName(extension) ?? metadata.name,
    sha256,
    bytes: sizeBytes,
    key: presentKey(extension),
  };
};

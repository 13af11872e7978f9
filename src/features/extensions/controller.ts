import { holderOf, type ObjectController } from "../../core/reconcile/object-controller.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { copyBlob } from "../../platform/blobs/copy-blob.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { blobsFinalizer } from "../../platform/kinds/kind.ts";
import { archiveKey, type Extension, extensionKind, formerKey, uploadUntilAnnotation } from "./extension.ts";
import { extensionStatus } from "./status.ts";

/** Deadline of one question to the store, ms. */
const storeTimeoutMs = 30_000;

/** Longest move of an archive, ms. */
const moveMs = 5 * 60_000;

/** Asked once: an archive that was found is only ever deleted with its object. */
const isStored = async (extension: Extension, blobs: BlobStore): Promise<boolean> => {
  if (!extension.spec.archive) return false;
  if (extension.status?.storedSha256 === extension.spec.archive.sha256) return true;
  const asked = new AbortController();
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(storeTimeoutMs)]);
  const found = await blobs.get(archiveKey(extension), { signal });
  asked.abort();
  if (found) return true;
  const move = { from: formerKey(extension), to: archiveKey(extension) };
  return (await copyBlob(blobs, move, AbortSignal.timeout(moveMs))) !== undefined;
};

const deleteFormer = (extension: Pick<Extension, "metadata">, blobs: BlobStore): Promise<void> =>
  blobs.delete(formerKey(extension), { signal: AbortSignal.timeout(storeTimeoutMs) });

/**
 * Keeps the status of extensions. While the store of blobs is away, an extension that is being deleted stays: the round
 * fails and comes back.
 */
export const extensionController: ObjectController<Extension, { blobs: BlobStore }> = {
  name: "extensions",
  kind: extensionKind,
  reads: [extensionKind],
  finalizer: blobsFinalizer,
  async release(extension, { blobs }) {
    await blobs.delete(archiveKey(extension), { signal: AbortSignal.timeout(storeTimeoutMs) });
    await deleteFormer(extension, blobs);
    return undefined;
  },
  /** An upload that was broken off goes when its time is over. */
  async before(extension, { kube, lead, now }) {
    const until = extension.metadata.annotations?.[uploadUntilAnnotation];
    if (until === undefined || extension.spec.archive) return undefined;
    // `NaN` for an annotation that nobody of ours has written counts as over.
    const leftMs = Date.parse(until) - now();
    if (leftMs > 0) return { requeue: { requeueAfterMs: leftMs } };
    lead.check();
    await kube.delete(extensionKind, extension.metadata, { uid: extension.metadata.uid });
    return {};
  },
  async statusOf(extension, deps) {
    const holder = holderOf(extension, { kind: extensionKind, claimOf: claimedName }, deps);
    return extensionStatus(extension, {
      holder,
      isStored: await isStored(extension, deps.blobs),
      nowMs: deps.now(),
    });
  },
  /** What an older release has stored was copied in the round that looked for the archive, and the status says so. */
  async after({ metadata, spec, status }, { blobs }) {
    if (spec.archive && status?.storedSha256 === undefined) await deleteFormer({ metadata }, blobs);
  },
};

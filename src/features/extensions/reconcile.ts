import { dropFinalizer, withFinalizer } from "../../core/reconcile/finalizers.ts";
import { holderOf, liveIn, type ObjectDeps, writeStatus } from "../../core/reconcile/object-deps.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { blobsFinalizer } from "../../platform/kinds/finalizers.ts";
import { claimedName } from "../../platform/kinds/identity.ts";
import { refOf } from "../../platform/kube/objects.ts";
import type { Requeue } from "../../platform/kube/work-queue.ts";
import { archiveKey, type Extension, extensionKind, uploadUntilAnnotation } from "./extension.ts";
import { extensionStatus } from "./status.ts";

/** Deadline of one question to the store, ms. */
const storeTimeoutMs = 30_000;

/** Asked once: an archive that was found is only ever deleted with its object. */
const isStored = async (extension: Extension, blobs: BlobStore): Promise<boolean> => {
  if (!extension.spec.archive) return false;
  const ready = extension.status?.conditions.find(({ type }) => type === "Ready");
  if (ready?.reason === "Stored" && ready.observedGeneration === extension.metadata.generation) return true;
  const asked = new AbortController();
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(storeTimeoutMs)]);
  const found = await blobs.get(archiveKey(extension), { signal });
  asked.abort();
  return found !== undefined;
};

const deleteArchive = async (extension: Extension, { kube, blobs, lead }: ObjectDeps): Promise<void> => {
  if (!extension.metadata.finalizers?.includes(blobsFinalizer)) return;
  lead.check();
  await blobs.delete(archiveKey(extension), { signal: AbortSignal.timeout(storeTimeoutMs) });
  await dropFinalizer(extensionKind, { object: extension, finalizer: blobsFinalizer }, kube);
};

/**
 * One round for one extension; `key` is `namespace/name`. Safe to repeat at any point. While the store of blobs is away, an extension that is
 * being deleted stays: the round fails and comes back.
 */
export const reconcileExtension = async (key: string, deps: ObjectDeps): Promise<Requeue | undefined> => {
  const { extensions } = deps.caches;
  const known = extensions.get(refOf(key));
  if (!known) return undefined;
  if (known.metadata.deletionTimestamp) {
    await deleteArchive(known, deps);
    return undefined;
  }
  const until = known.metadata.annotations?.[uploadUntilAnnotation];
  deps.lead.check();
  if (until !== undefined && !known.spec.archive) {
    // `NaN` for an annotation that nobody of ours has written counts as over.
    const leftMs = Date.parse(until) - deps.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await deps.kube.delete(extensionKind, known.metadata, { uid: known.metadata.uid });
    return undefined;
  }
  const extension = await withFinalizer(extensionKind, { object: known, finalizer: blobsFinalizer }, deps.kube);
  extensions.put(extension);
  const rivals = liveIn(extension.metadata.namespace, extensions);
  const holder = holderOf(extension, rivals, claimedName) ?? extension;
  const status = extensionStatus(extension, {
    holder,
    isStored: await isStored(extension, deps.blobs),
    nowMs: deps.now(),
  });
  await writeStatus(extensionKind, { object: extension, status, cache: extensions }, deps);
  return undefined;
};

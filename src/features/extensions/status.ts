import { acceptedDraft, conditionsOf } from "../../core/reconcile/conditions.ts";
import type { Extension } from "./extension.ts";

/**
 * The status of an extension, pure. `holder`: the oldest extension with this name. `isStored`: whether the store has
 * its archive.
 */
export const extensionStatus = (
  extension: Extension,
  { holder, isStored, nowMs }: { holder: Extension; isStored: boolean; nowMs: number },
): NonNullable<Extension["status"]> => {
  const taken =
    holder.metadata.uid === extension.metadata.uid
      ? undefined
      : { reason: "NameTaken", message: `spec.name: the extension ${holder.metadata.name} has this name` };
  const contents = !extension.spec.archive
    ? { status: false, reason: "NoArchive", message: "no archive was uploaded; POST /extensions makes an extension" }
    : !isStored
      ? {
          status: false,
          reason: "ArchiveMissing",
          message: "the store of blobs does not have the archive; upload it anew",
        }
      : { status: true, reason: "Stored", message: "the archive is stored" };
  return {
    observedGeneration: extension.metadata.generation ?? 0,
    ...(isStored && extension.spec.archive && { storedSha256: extension.spec.archive.sha256 }),
    conditions: conditionsOf(extension, [acceptedDraft(taken), { type: "Ready", ...contents }], nowMs),
  };
};

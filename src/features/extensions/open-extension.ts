import type { Project } from "../../core/projects/projects.ts";
import { unavailable } from "../../platform/base/errors.ts";
import type { BlobStore, OpenBlob } from "../../platform/blobs/blob-store.ts";
import { wireId, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { archiveKey } from "./extension.ts";
import { fetchExtension } from "./fetch-extension.ts";

/**
 * Opens the archive of an extension, byte by byte as it was uploaded. `name`: of the file. Throws `not_found`, and `unavailable` when
 * the store does not have it.
 */
export const openExtension = async (
  idOrName: string,
  { project, signal }: { project: Project; signal: AbortSignal },
  deps: { blobs: BlobStore; kube: Kube },
): Promise<OpenBlob & { name: string }> => {
  const extension = await fetchExtension(idOrName, project, deps);
  const archive = await deps.blobs.get(archiveKey(extension), { signal });
  if (!archive) throw unavailable(`the archive of the extension ${wireName(extension) ?? wireId(extension)}`);
  return { ...archive, name: `${wireName(extension) ?? wireId(extension)}.zip` };
};

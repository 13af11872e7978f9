import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { ArchiveRef } from "../../../core/protocol/browser-setup.ts";
import { unpackProfile } from "../archive/unpack-profile.ts";

/**
 * Unpacks a profile into the empty folder `profileDir`. Rejects for an archive that is not the one of `ref` any more;
 * the folder is then to be deleted.
 */
export const loadProfile = async (
  file: string,
  { ref, profileDir }: { ref: ArchiveRef; profileDir: string },
  signal: AbortSignal,
): Promise<void> => {
  const hash = createHash("sha256");
  const archive = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await unpackProfile({ archive: archive(), folder: profileDir }, { signal });
  if (hash.digest("hex") !== ref.sha256)
    throw new Error("the archive of the profile is not what was sent: its digest differs");
};

/**
 * Archives of a browser's setup on the agent's disk, each under its digest. They arrive sealed
 * (core/protocol/sealed-bytes.ts).
 */
import { createHash, type KeyObject, randomUUID } from "node:crypto";
import { chmod, mkdir, open, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { ArchiveRef } from "../protocol/browser-setup.ts";
import { openStream } from "../protocol/sealed-bytes.ts";

export type ArchiveFolder = {
  has(sha256: string): boolean;
  /** The file of an archive that is here. Whoever uses it checks that it is still as it was sent. */
  file(ref: Pick<ArchiveRef, "sha256">): string;
  /** Keeps the request's body. False when its bytes are not the archive's, or did not come whole. */
  receive(request: IncomingMessage, ref: ArchiveRef): Promise<boolean>;
};

/** Writes an archive to a new file. Returns its digest; undefined when it has another length. */
const writeArchive = async (
  archive: AsyncIterable<Buffer>,
  file: string,
  bytes: number,
): Promise<string | undefined> => {
  await using handle = await open(file, "wx", 0o400);
  const hash = createHash("sha256");
  let length = 0;
  for await (const chunk of archive) {
    length += chunk.length;
    if (length > bytes) return undefined;
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return length === bytes ? hash.digest("hex") : undefined;
};

/** Makes the folder anew, without any archive. `agentKey`: what archives are sealed with. */
export const createArchiveFolder = async (folder: string, agentKey: KeyObject): Promise<ArchiveFolder> => {
  // A container that starts again finds the folder of the one before it, which may be closed to writing.
  await chmod(folder, 0o700).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = new Set<string>();
  const incoming = new Map<string, IncomingMessage>();
  return {
    has: (sha256) => kept.has(sha256),
    file: ({ sha256 }) => join(folder, sha256),
    async receive(request, { sha256, bytes }) {
      // A caller that sends an archive again has given up the first call, or is another one. The disk has room for each
      // archive once.
      incoming.get(sha256)?.destroy();
      incoming.set(sha256, request);
      const file = join(folder, `incoming-${randomUUID()}`);
      try {
        const digest = await writeArchive(openStream(agentKey, request), file, bytes).catch(() => undefined);
        if (digest !== sha256) return false;
        await rename(file, join(folder, sha256));
        kept.add(sha256);
        return true;
      } finally {
        await rm(file, { force: true });
        if (incoming.get(sha256) === request) incoming.delete(sha256);
      }
    },
  };
};

/** The digests of the archives that are not here, each once. */
export const missingIn = (wanted: ArchiveRef[], here: ArchiveFolder): string[] =>
  [...new Set(wanted.map(({ sha256 }) => sha256))].filter((sha256) => !here.has(sha256));

/** Whether an archive is the one of the path `/archives/{sha256}`. */
export const isAt =
  (path = "") =>
  ({ sha256 }: ArchiveRef): boolean =>
    path.split("/").at(-1) === sha256;

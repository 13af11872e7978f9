import { randomUUID } from "node:crypto";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CallRefused } from "../../../core/agent/call-routes.ts";
import { ArchiveRefused } from "../../../platform/zip/archive-refused.ts";
import type { ZipLimits } from "../../../platform/zip/limits.ts";
import { openArchive } from "../../../platform/zip/open-archive.ts";
import { createMeter, readEntry } from "../../../platform/zip/read-entry.ts";
import { mostUploadBytes } from "../calls.ts";
import { type WriteDeps, writeWhole } from "./write-file.ts";

/** What comes out is bounded by the session's room. */
const limits: ZipLimits = { archiveBytes: mostUploadBytes, nodes: 50_000, unpackedBytes: () => mostUploadBytes };

const usualMode = 0o644;

/** Keeps an archive on the disk: its directory is at its end. */
const spool = async (bytes: AsyncIterable<Uint8Array>, { room, partsDir }: WriteDeps) => {
  const take = await room.enter();
  await mkdir(partsDir, { recursive: true, mode: 0o700 });
  const part = join(partsDir, randomUUID());
  const file = await open(part, "wx+", 0o600);
  // It takes room until it is closed.
  await rm(part);
  try {
    for await (const chunk of bytes) {
      take(chunk.length);
      await file.writeFile(chunk);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};

/**
 * Unpacks an archive into a folder, which is made if it is missing; files that are there are replaced. All of the
 * archive but the contents of its files is checked before the first file is written. Throws a `CallRefused`.
 */
export const unpackZip = async (
  bytes: AsyncIterable<Uint8Array>,
  names: readonly string[],
  deps: WriteDeps,
  signal: AbortSignal,
): Promise<void> => {
  await using file = await spool(bytes, deps);
  try {
    const archive = await openArchive(file, limits, { signal });
    const meter = createMeter(archive.bytes, limits);
    for (const entry of archive.entries) {
      const inside = [...names, ...entry.segments];
      if (entry.isFolder) await (await deps.folder.open(inside, { make: true }))[Symbol.asyncDispose]();
      else await writeWhole({ names: inside, mode: usualMode }, readEntry(archive, entry, meter), deps, signal);
    }
  } catch (error) {
    if (error instanceof ArchiveRefused)
      throw new CallRefused("bad_request", `zip_file: ${error.message}`, { cause: error });
    throw error;
  }
};

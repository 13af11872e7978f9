/**
 * The places of an archive's parts. Entries, central directory and end record must follow each other without gap or
 * overlap, from the first byte to the last:
 *
 *   [local header, data, descriptor?] … [central directory] [end record, comment]
 *
 * So nothing is hidden, no data count twice, and every reader of zip files sees the same archive.
 */
import type { FileHandle } from "node:fs/promises";
import type { Entry } from "yauzl";
import { ArchiveRefused } from "./archive-refused.ts";
import { hasDescriptor } from "./entry-headers.ts";
import { readableName } from "./entry-name.ts";
import type { ZipLimits } from "./limits.ts";

/** An entry and the place of its parts, bytes from the beginning of the archive. */
export type Placed = { entry: Entry; start: number; dataEnd: number };

/** Where the central directory begins and ends, and how many entries it has. */
export type Directory = { start: number; end: number; entryCount: number };

const endRecordBytes = 22;
const endRecordSignature = Buffer.from("PK\x05\x06");
const maxCommentBytes = 0xffff;
const zip64LocatorBytes = 20;
const zip64LocatorSignature = 0x07064b50;
const descriptorSignature = 0x08074b50;

/** Reads exactly these bytes of a file. Throws when it has fewer. */
const readAt = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead < length) throw new ArchiveRefused("malformed", "the archive ends too early");
  return buffer;
};

/**
 * Reads the end record, which must name a central directory right before it. yauzl takes less care: it believes offsets
 * of zip64 that no file can have, and then throws where nobody can catch it. Throws `ArchiveRefused`.
 */
export const readEndRecord = async (
  file: FileHandle,
  archiveBytes: number,
  { nodes }: Pick<ZipLimits, "nodes">,
): Promise<Directory> => {
  const tailBytes = Math.min(archiveBytes, zip64LocatorBytes + endRecordBytes + maxCommentBytes);
  const tail = await readAt(file, archiveBytes - tailBytes, tailBytes);
  const at = tail.lastIndexOf(endRecordSignature);
  if (at === -1) throw new ArchiveRefused("not_a_zip", "this is no zip archive, or its end is missing");
  const record = tail.subarray(at);
  if (record.length < endRecordBytes || record.readUInt16LE(20) !== record.length - endRecordBytes)
    throw new ArchiveRefused("stray_data", "there is data behind the end of the archive");
  if (at >= zip64LocatorBytes && tail.readUInt32LE(at - zip64LocatorBytes) === zip64LocatorSignature)
    throw new ArchiveRefused("zip64", "this is a zip64 archive, which none of this size needs to be");
  const entryCount = record.readUInt16LE(10);
  if (record.readUInt16LE(4) !== 0 || record.readUInt16LE(6) !== 0 || record.readUInt16LE(8) !== entryCount)
    throw new ArchiveRefused("malformed", "the archive is a part of several");
  if (entryCount > nodes)
    throw new ArchiveRefused("too_many_files", `the archive has more than ${nodes} files and folders`);
  const end = archiveBytes - record.length;
  const start = record.readUInt32LE(16);
  if (start + record.readUInt32LE(12) !== end)
    throw new ArchiveRefused("stray_data", "the central directory does not end where the end record begins");
  return { start, end, entryCount };
};

const checkDescriptor = ({ entry }: Placed, bytes: Buffer): void => {
  const name = readableName(entry.fileNameRaw);
  const isSigned = bytes.length === 16 && bytes.readUInt32LE(0) === descriptorSignature;
  const fields = isSigned ? bytes.subarray(4) : bytes;
  if (fields.length !== 12)
    throw new ArchiveRefused("stray_data", "what follows its data is no data descriptor", { entry: name });
  const same =
    fields.readUInt32LE(0) === entry.crc32 &&
    fields.readUInt32LE(4) === entry.compressedSize &&
    fields.readUInt32LE(8) === entry.uncompressedSize;
  if (!same)
    throw new ArchiveRefused("headers_differ", "its data descriptor and the central directory differ", { entry: name });
};

/** Longest data descriptor, bytes. */
const maxDescriptorBytes = 16;

/** Checks that the entries fill the archive up to the central directory. Throws `ArchiveRefused`. */
export const checkPlaces = async (file: FileHandle, entries: Placed[], directory: Directory): Promise<void> => {
  const ordered = entries.toSorted((a, b) => a.start - b.start);
  const first = ordered[0]?.start ?? directory.start;
  if (first !== 0) throw new ArchiveRefused("stray_data", "there is data before the first entry");
  for (const [index, placed] of ordered.entries()) {
    const next = ordered[index + 1]?.start ?? directory.start;
    const entry = readableName(placed.entry.fileNameRaw);
    const gap = next - placed.dataEnd;
    if (gap < 0) throw new ArchiveRefused("overlap", "its data overlap with what follows", { entry });
    if (gap > 0 && (gap > maxDescriptorBytes || !hasDescriptor(placed.entry)))
      throw new ArchiveRefused("stray_data", "there is unnamed data behind it", { entry });
    if (hasDescriptor(placed.entry)) checkDescriptor(placed, await readAt(file, placed.dataEnd, gap));
  }
};

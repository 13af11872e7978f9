/** What the two headers of an entry say besides its name: the entry of the central directory and the local header. */
import { type Entry, type LocalFileHeader, parseExtraFields } from "yauzl";
import { ArchiveRefused, type ArchiveRule } from "./archive-refused.ts";
import { type EntryName, readableName } from "./entry-name.ts";

const stored = 0;
const deflated = 8;

/** Bits of the general purpose flag. */
const encryptionBits = 0x2041;
const levelBits = 0x0006;
/** The sizes and the checksum come after the data, in a data descriptor. */
const descriptorBit = 0x0008;
const utf8Bit = 0x0800;
const knownBits = levelBits | descriptorBit | utf8Bit;

/** Extra fields that give an entry other sizes, and another name. */
const zip64Extra = 0x0001;
const unicodeNameExtra = 0x7075;

/** The file types of Unix, in the upper half of the external attributes. */
const typeBits = 0o170000;
const folderType = 0o040000;
const regularType = 0o100000;
const linkType = 0o120000;

/** The attribute of DOS for folders. */
const dosFolder = 0x10;

/** Whether the entry's data are deflated, not stored. */
export const isDeflated = ({ compressionMethod }: Pick<Entry, "compressionMethod">): boolean =>
  compressionMethod === deflated;

/** Whether a data descriptor follows the entry's data. */
export const hasDescriptor = ({ generalPurposeBitFlag }: Pick<Entry, "generalPurposeBitFlag">): boolean =>
  (generalPurposeBitFlag & descriptorBit) !== 0;

const refuse = (entry: Entry, rule: ArchiveRule, message: string): never => {
  // yauzl gives raw names, as it is told not to decode them.
  throw new ArchiveRefused(rule, message, { entry: readableName(entry.fileNameRaw) });
};

const checkType = (entry: Entry, { isFolder }: EntryName): void => {
  const type = (entry.externalFileAttributes >>> 16) & typeBits;
  if (type === linkType) refuse(entry, "special_file", "it is a link; put the file itself into the archive");
  if (type !== 0 && type !== folderType && type !== regularType)
    refuse(entry, "special_file", "it is neither a file nor a folder");
  const saysFolder = type === folderType || (entry.externalFileAttributes & dosFolder) !== 0;
  if (saysFolder && !isFolder) refuse(entry, "folder_or_file", "its attributes say folder, its name says file");
  if (isFolder && type === regularType)
    refuse(entry, "folder_or_file", "its attributes say file, its name says folder");
  if (isFolder && entry.uncompressedSize > 0) refuse(entry, "folder_or_file", "it is a folder that has content");
};

/** Checks an entry of the central directory. Throws `ArchiveRefused`. */
export const checkEntry = (entry: Entry, name: EntryName): void => {
  const { generalPurposeBitFlag: flag, compressionMethod: method } = entry;
  if ((flag & encryptionBits) !== 0) refuse(entry, "encrypted", "it is encrypted");
  if ((flag & ~knownBits) !== 0) refuse(entry, "unsupported_flag", `it has the unsupported flags ${flag & ~knownBits}`);
  if (method !== stored && method !== deflated)
    refuse(
      entry,
      "unsupported_method",
      `it has the compression method ${method}; only stored and deflated are possible`,
    );
  if (entry.extraFields.some(({ id }) => id === zip64Extra))
    refuse(entry, "zip64", "it has zip64 sizes, which no archive of this size needs");
  if (entry.extraFields.some(({ id }) => id === unicodeNameExtra))
    refuse(entry, "name_encoding", "it has a second name in an extra field");
  if (method === stored && entry.compressedSize !== entry.uncompressedSize)
    refuse(entry, "wrong_size", "it is stored, but has two sizes");
  checkType(entry, name);
};

const extraIds = (entry: Entry, { extraField }: LocalFileHeader): number[] => {
  try {
    return parseExtraFields(extraField).map(({ id }) => id);
  } catch {
    return refuse(entry, "malformed", "the extra fields of its local header are broken");
  }
};

/** Readers that go from local header to local header must see the same archive. Throws `ArchiveRefused`. */
export const checkLocalHeader = (entry: Entry, local: LocalFileHeader): void => {
  const differs = (what: string): never =>
    refuse(entry, "headers_differ", `its local header and the central directory differ in its ${what}`);
  if (!entry.fileNameRaw.equals(local.fileName)) differs("name");
  if (((entry.generalPurposeBitFlag ^ local.generalPurposeBitFlag) & ~levelBits) !== 0) differs("flags");
  if (entry.compressionMethod !== local.compressionMethod) differs("compression method");
  if (extraIds(entry, local).includes(zip64Extra))
    refuse(entry, "zip64", "it has zip64 sizes, which no archive of this size needs");
  // Before a data descriptor, a writer leaves the fields empty or fills them in.
  const isSame = (given: number, expected: number): boolean =>
    given === expected || (given === 0 && hasDescriptor(entry));
  if (!isSame(local.crc32, entry.crc32)) differs("checksum");
  if (!isSame(local.compressedSize, entry.compressedSize)) differs("compressed size");
  if (!isSame(local.uncompressedSize, entry.uncompressedSize)) differs("size");
};

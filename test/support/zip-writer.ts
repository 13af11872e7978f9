/** Writes zip archives, and every sort of wrong ones: each field of each header can be set. */
import { crc32, deflateRawSync } from "node:zlib";

/** The fields that a local header and an entry of the central directory share. */
type HeaderFields = {
  name: Buffer;
  flag: number;
  method: number;
  crc: number;
  compressedSize: number;
  size: number;
  extra: Buffer;
};

export type ZipEntry = {
  name: string | Buffer;
  content?: string | Buffer;
  /** Left out: deflated. */
  method?: number;
  /** Bits of the general purpose flag besides those that the writer needs. */
  flag?: number;
  /** Sizes and checksum behind the data; a signed descriptor is the usual one. */
  descriptor?: "signed" | "unsigned" | Buffer;
  /** The mode of Unix, e.g. 0o120777 for a link. */
  mode?: number;
  dosAttributes?: number;
  extra?: Buffer;
  /** Raw data in place of the content's. */
  data?: Buffer;
  /** What the headers say in place of the truth. */
  both?: Partial<HeaderFields>;
  local?: Partial<HeaderFields>;
  central?: Partial<HeaderFields> & { offset?: number; comment?: Buffer; signature?: number };
  /** Bytes before the local header. */
  before?: Buffer;
};

export type ZipOptions = {
  prefix?: Buffer;
  /** Between the last entry and the central directory. */
  beforeDirectory?: Buffer;
  afterDirectory?: Buffer;
  suffix?: Buffer;
  comment?: Buffer;
  end?: Partial<{ disk: number; here: number; total: number; size: number; offset: number; commentLength: number }>;
};

/** An extra field. */
export const extraField = (id: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
};

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

const half = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value & 0xffff);
  return bytes;
};

const shared = ({ flag, method, crc, compressedSize, size, name, extra }: HeaderFields): Buffer =>
  Buffer.concat([
    half(20),
    half(flag),
    half(method),
    half(0),
    half(0x5ae1),
    word(crc),
    word(compressedSize),
    word(size),
    half(name.length),
    half(extra.length),
  ]);

const truthOf = ({ name, content = "", method = 8, flag = 0, descriptor, extra, data, both }: ZipEntry) => {
  const bytes = Buffer.from(content);
  const packed = data ?? (method === 8 ? deflateRawSync(bytes) : bytes);
  const fields: HeaderFields = {
    name: Buffer.from(name),
    flag: flag | (descriptor === undefined ? 0 : 8),
    method,
    crc: crc32(bytes),
    compressedSize: packed.length,
    size: bytes.length,
    extra: extra ?? Buffer.alloc(0),
    ...both,
  };
  return { packed, fields };
};

const descriptorOf = ({ descriptor }: ZipEntry, { crc, compressedSize, size }: HeaderFields): Buffer => {
  if (descriptor === undefined || Buffer.isBuffer(descriptor)) return descriptor ?? Buffer.alloc(0);
  const fields = Buffer.concat([word(crc), word(compressedSize), word(size)]);
  return descriptor === "signed" ? Buffer.concat([word(0x08074b50), fields]) : fields;
};

const localOf = (entry: ZipEntry, packed: Buffer, fields: HeaderFields): Buffer => {
  const later = entry.descriptor === undefined ? {} : { crc: 0, compressedSize: 0, size: 0 };
  const local = { ...fields, ...later, ...entry.local };
  const header = Buffer.concat([word(0x04034b50), shared(local), local.name, local.extra]);
  return Buffer.concat([header, packed, descriptorOf(entry, fields)]);
};

const centralOf = (
  { central = {}, mode, dosAttributes = 0 }: ZipEntry,
  fields: HeaderFields,
  offset: number,
): Buffer => {
  const all = { ...fields, ...central };
  const comment = central.comment ?? Buffer.alloc(0);
  return Buffer.concat([
    word(central.signature ?? 0x02014b50),
    half(mode === undefined ? 20 : 0x0314),
    shared(all),
    half(comment.length),
    half(0),
    half(0),
    word(((mode ?? 0) << 16) | dosAttributes),
    word(central.offset ?? offset),
    all.name,
    all.extra,
    comment,
  ]);
};

/** The bytes of an archive with these entries. */
export const writeZip = (entries: ZipEntry[], options: ZipOptions = {}): Buffer => {
  const { prefix, beforeDirectory, afterDirectory, suffix, comment = Buffer.alloc(0), end = {} } = options;
  const parts: Buffer[] = prefix ? [prefix] : [];
  const directory: Buffer[] = [];
  let offset = prefix?.length ?? 0;
  const push = (bytes: Buffer | undefined): void => {
    if (!bytes) return;
    parts.push(bytes);
    offset += bytes.length;
  };
  for (const entry of entries) {
    const { packed, fields } = truthOf(entry);
    push(entry.before);
    directory.push(centralOf(entry, fields, offset));
    push(localOf(entry, packed, fields));
  }
  push(beforeDirectory);
  const start = offset;
  const bytes = Buffer.concat(directory);
  const record = Buffer.concat([
    word(0x06054b50),
    half(end.disk ?? 0),
    half(0),
    half(end.here ?? end.total ?? entries.length),
    half(end.total ?? entries.length),
    word(end.size ?? bytes.length),
    word(end.offset ?? start),
    half(end.commentLength ?? comment.length),
    comment,
  ]);
  return Buffer.concat([...parts, bytes, ...[afterDirectory, record, suffix].filter((part) => part !== undefined)]);
};

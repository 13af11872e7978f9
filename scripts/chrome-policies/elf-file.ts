/** Reads what the linker has left in a program's file: texts, numbers, and the pointers that the loader fills in. */
import { readFileSync } from "node:fs";

/** A program's file, by the addresses that its code has when it is loaded at 0. */
export type ElfFile = {
  /** What the pointer at each of these addresses points to. */
  pointers: ReadonlyMap<number, number>;
  /** The address of every place where this text stands with a NUL after it. */
  findText(text: string): number[];
  /** The text at an address, up to its NUL. */
  textAt(address: number): string;
  /** Signed numbers. */
  int8At(address: number): number;
  int16At(address: number): number;
  int32At(address: number): number;
};

type Segment = { type: number; offset: number; address: number; size: number };

const loadSegment = 1;
const dynamicSegment = 2;

/** Entries of the dynamic segment: where the relocations are, and their length in bytes. */
const relocations = 7;
const relocationBytes = 8;
const relocationSize = 24;

/** Relocations that are a pointer into the program itself: of x86-64 and of aarch64. */
const relative = [8, 1027];

const longestText = 4096;

const segmentsOf = (file: Buffer): Segment[] => {
  const at = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const start = at + index * size;
    return {
      type: file.readUInt32LE(start),
      offset: Number(file.readBigUInt64LE(start + 8)),
      address: Number(file.readBigUInt64LE(start + 16)),
      size: Number(file.readBigUInt64LE(start + 32)),
    };
  });
};

/** The value of an entry of the dynamic segment. */
const dynamicEntry = (file: Buffer, { offset, size }: Segment, tag: number): number => {
  for (let at = offset; at < offset + size; at += 16)
    if (Number(file.readBigUInt64LE(at)) === tag) return Number(file.readBigUInt64LE(at + 8));
  throw new Error("the program has no relocations of the form that Debian's builds have");
};

const pointersOf = (file: Buffer, segments: Segment[], offsetOf: (address: number) => number): Map<number, number> => {
  const dynamic = segments.find(({ type }) => type === dynamicSegment);
  if (!dynamic) throw new Error("the program is not linked dynamically");
  const start = offsetOf(dynamicEntry(file, dynamic, relocations));
  const end = start + dynamicEntry(file, dynamic, relocationBytes);
  const pointers = new Map<number, number>();
  for (let at = start; at < end; at += relocationSize)
    if (relative.includes(file.readUInt32LE(at + 8)))
      pointers.set(Number(file.readBigUInt64LE(at)), Number(file.readBigInt64LE(at + 16)));
  return pointers;
};

/** Reads a 64-bit little-endian program. Throws an Error for any other file. */
export const readElf = (path: string): ElfFile => {
  const file = readFileSync(path);
  if (file.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") throw new Error(`${path} is no 64-bit program of Linux`);
  const segments = segmentsOf(file);
  const loaded = segments.filter(({ type }) => type === loadSegment);
  const offsetOf = (address: number): number => {
    const inside = loaded.find((one) => address >= one.address && address < one.address + one.size);
    if (!inside) throw new Error(`the program has nothing at ${address}`);
    return address - inside.address + inside.offset;
  };
  const addressOf = (offset: number): number | undefined => {
    const inside = loaded.find((one) => offset >= one.offset && offset < one.offset + one.size);
    return inside && offset - inside.offset + inside.address;
  };
  return {
    pointers: pointersOf(file, segments, offsetOf),
    findText(text) {
      const wanted = Buffer.from(`${text}\0`, "latin1");
      const found: number[] = [];
      for (let at = file.indexOf(wanted); at !== -1; at = file.indexOf(wanted, at + 1)) {
        const address = addressOf(at);
        if (address !== undefined) found.push(address);
      }
      return found;
    },
    textAt(address) {
      const start = offsetOf(address);
      const end = file.indexOf(0, start);
      if (end === -1 || end - start > longestText) throw new Error(`the program has no text at ${address}`);
      return file.toString("utf8", start, end);
    },
    int8At: (address) => file.readInt8(offsetOf(address)),
    int16At: (address) => file.readInt16LE(offsetOf(address)),
    int32At: (address) => file.readInt32LE(offsetOf(address)),
  };
};

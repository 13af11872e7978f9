/** Bytes that are nearly valid: valid examples, changed here and there. */
import fc from "fast-check";

type Change = (bytes: Buffer) => Buffer;

/** A place in bytes of any length: a share of it. */
const place = fc.integer({ min: 0, max: 0xffff });
const at = (bytes: Buffer, share: number): number => Math.floor((bytes.length * share) / 0x10000);

/** Numbers at which lengths and offsets break. */
const edges = [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

const replaced = (bytes: Buffer, from: number, to: number, by: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);

const flipBit: fc.Arbitrary<Change> = fc.tuple(place, fc.integer({ min: 0, max: 7 })).map(([share, bit]) => (bytes) => {
  const changed = Buffer.from(bytes);
  const index = at(bytes, share);
  if (index < changed.length) changed[index] = (changed[index] ?? 0) ^ (1 << bit);
  return changed;
});

const setByte: fc.Arbitrary<Change> = fc.tuple(place, fc.integer({ min: 0, max: 255 })).map(
  ([share, value]) =>
    (bytes) =>
      replaced(bytes, at(bytes, share), at(bytes, share) + 1, Buffer.of(value)),
);

const setNumber: fc.Arbitrary<Change> = fc
  .tuple(place, fc.constantFrom(...edges), fc.constantFrom("u16le", "u16be", "u32le", "u32be"))
  .map(([share, value, kind]) => (bytes) => {
    const changed = Buffer.from(bytes);
    const size = kind.startsWith("u16") ? 2 : 4;
    const index = Math.min(at(bytes, share), changed.length - size);
    if (index < 0) return changed;
    if (kind.endsWith("le")) changed.writeUIntLE(value % 256 ** size, index, size);
    else changed.writeUIntBE(value % 256 ** size, index, size);
    return changed;
  });

const insert = (inserted: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Change> =>
  fc.tuple(place, inserted).map(
    ([share, some]) =>
      (bytes) =>
        replaced(bytes, at(bytes, share), at(bytes, share), some),
  );

const remove: fc.Arbitrary<Change> = fc.tuple(place, fc.integer({ min: 1, max: 64 })).map(
  ([share, count]) =>
    (bytes) =>
      replaced(bytes, at(bytes, share), at(bytes, share) + count, Buffer.alloc(0)),
);

const repeat: fc.Arbitrary<Change> = fc
  .tuple(place, fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 4 }))
  .map(([share, count, times]) => (bytes) => {
    const from = at(bytes, share);
    const part = bytes.subarray(from, from + count);
    return replaced(bytes, from, from, Buffer.concat(Array.from({ length: times }, () => part)));
  });

const cut: fc.Arbitrary<Change> = place.map(
  (share): Change =>
    (bytes) =>
      Buffer.from(bytes.subarray(0, at(bytes, share))),
);

const move: fc.Arbitrary<Change> = fc
  .tuple(place, place, fc.integer({ min: 1, max: 64 }))
  .map(([from, to, count]) => (bytes) => {
    const part = Buffer.from(bytes.subarray(at(bytes, from), at(bytes, from) + count));
    return replaced(bytes, at(bytes, to), at(bytes, to) + part.length, part);
  });

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 16 });

/**
 * Bytes with up to so many changes, none among them. `tokens`: what else is put in, besides random bytes: words of the
 * format.
 */
export const mutatedBytes = (
  valid: fc.Arbitrary<Uint8Array>,
  { tokens = [], mostChanges = 6 }: { tokens?: readonly (string | Uint8Array)[]; mostChanges?: number } = {},
): fc.Arbitrary<Buffer> => {
  const words = tokens.map((token) => Buffer.from(token as string));
  const change = fc.oneof(
    flipBit,
    setByte,
    setNumber,
    insert(someBytes),
    ...(words.length > 0 ? [insert(fc.constantFrom(...words)), insert(fc.constantFrom(...words))] : []),
    remove,
    repeat,
    cut,
    move,
  );
  return fc
    .tuple(valid, fc.array(change, { maxLength: mostChanges }))
    .map(([bytes, changes]) => changes.reduce<Buffer>((so, one) => one(so), Buffer.from(bytes)));
};

/** The same bytes in pieces as a network brings them: of these sizes, over and over. */
export const inPieces = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let index = 0; from < bytes.length; index += 1) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? bytes.length);
    pieces.push(bytes.subarray(from, from + size));
    from += size;
  }
  return pieces;
};

/** Sizes for `inPieces`; none: all at once. */
export const pieceSizes: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 4 });

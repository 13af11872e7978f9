import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { Header, Pax } from "tar";
import { archiveLimits, ProfileArchiveError } from "../../../src/features/profiles/archive/limits.ts";
import { packProfile } from "../../../src/features/profiles/archive/pack-profile.ts";
import { unpackProfile } from "../../../src/features/profiles/archive/unpack-profile.ts";
import { inPieces, mutatedBytes, pieceSizes } from "../inputs/mutated-bytes.ts";
import { mutatedText } from "../inputs/mutated-text.ts";
import { type ScratchFolder, scratchFolder } from "../scratch-folder.ts";
import { type FuzzTarget, must, orRefused } from "../target.ts";

const limits = { ...archiveLimits, bytes: 200_000, packedBytes: 100_000, entries: 50 };

const paths = mutatedText(fc.constantFrom("Default/Cookies", "Local State", "Default/", "./Default/a/b/c", "Default"), {
  tokens: ["../", "/", "./", "..", "\\", "\0", "//", "Default", "Sessions"],
  mostChanges: 2,
});
const types = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("File", "Directory") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "OldFile",
      "ContiguousFile",
      "SymbolicLink",
      "Link",
      "FIFO",
      "CharacterDevice",
      "ExtendedHeader",
      "GlobalExtendedHeader",
      "NextFileHasLongPath",
      "GNUDumpDir",
    ),
  },
);
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);

const entry = fc
  .record({
    path: paths,
    type: types,
    linkpath: fc.constantFrom(undefined, "/etc/passwd", "../../x"),
    contents: fc.oneof(
      { weight: 4, arbitrary: fc.string({ maxLength: 60 }) },
      { weight: 1, arbitrary: fc.constantFrom("21 path=../../evil\n", "x".repeat(3000), "20 size=99999999999\n") },
    ),
    size: fc.oneof(
      { weight: 9, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 5000, 2 ** 33, -1) },
    ),
    pax: fc.oneof(
      { weight: 9, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.record({ path: paths, size: fc.constantFrom(0, 7, 1e9) }, { requiredKeys: [] }) },
    ),
  })
  .map(({ path, type, linkpath, contents, size, pax }) => {
    const bytes = Buffer.from(type === "Directory" ? "" : contents);
    const header = new Header({
      path,
      type,
      linkpath,
      size: size ?? bytes.length,
      mode: 0o644,
      mtime: new Date(0),
    } as never);
    header.encode();
    const extended = pax ? new Pax(pax as never).encode() : Buffer.alloc(0);
    return Buffer.concat([extended, header.block ?? Buffer.alloc(0), padded(bytes)]);
  });
const tars = fc.array(entry, { maxLength: 6 }).map((blocks) => Buffer.concat([...blocks, Buffer.alloc(1024)]));

/** `isPacked`: compressed already. */
type Input = { bytes: Buffer; isPacked: boolean; sizes: number[] };

const bytes = (arbitrary: fc.Arbitrary<Buffer>, isPacked: boolean): fc.Arbitrary<Input> =>
  fc.record({ bytes: arbitrary, isPacked: fc.constant(isPacked), sizes: pieceSizes });
const inputs = fc.oneof(
  { weight: 6, arbitrary: bytes(tars, false) },
  { weight: 6, arbitrary: bytes(mutatedBytes(tars, { mostChanges: 3, tokens: ["ustar", "../", "\0"] }), false) },
  {
    weight: 1,
    arbitrary: bytes(
      mutatedBytes(
        tars.map((tar) => zstdCompressSync(tar)),
        { mostChanges: 3 },
      ),
      true,
    ),
  },
  {
    weight: 1,
    arbitrary: bytes(
      fc.integer({ min: 1, max: 60 }).map((count) => Buffer.alloc(count * 10_000)),
      false,
    ),
  },
);

const bytesOf = async function* (pieces: Buffer[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
};

const isRefusal = (error: unknown): boolean => error instanceof ProfileArchiveError;

const check = async ({ bytes: given, isPacked, sizes }: Input, scratch: ScratchFolder): Promise<void> => {
  const { signal } = new AbortController();
  // The folder is there before, as `unpackProfile` asks for it.
  await scratch.empty();
  const pieces = bytesOf(inPieces(isPacked ? given : zstdCompressSync(given), sizes));
  const unpacked = await orRefused(
    () => unpackProfile({ archive: pieces, folder: scratch.out }, { signal, limits }),
    isRefusal,
  );
  const found = await readdir(scratch.out, { recursive: true });
  const stats = await Promise.all(found.map((path) => lstat(join(scratch.out, path))));
  must(
    stats.every((stat) => stat.isFile() || stat.isDirectory()),
    "what is no plain file or folder came out",
  );
  must(
    stats.every((stat) => (stat.mode & 0o77) === 0),
    "a file that others may read came out",
  );
  must(
    stats.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) <= limits.bytes,
    "more bytes than the limit",
  );
  if ("refused" in unpacked) return;
  // What was taken can be saved again.
  for await (const _chunk of packProfile(scratch.out, { signal, limits: archiveLimits }));
};

export const target: FuzzTarget<Input> = {
  about:
    "Archives of profiles (tar, zstd), written anew and changed: refused as the module says, or plain files below the folder come out, within the limits, that can be packed again.",
  inputs,
  async open() {
    const scratch = await scratchFolder("tar");
    return { check: (input) => check(input, scratch), isWell: scratch.empty, close: scratch.remove };
  },
};

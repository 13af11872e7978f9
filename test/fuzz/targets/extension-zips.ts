import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { type FileHandle, lstat, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { checkExtensionZip } from "../../../src/features/extensions/zip/check-extension-zip.ts";
import { unpackExtensionZip } from "../../../src/features/extensions/zip/unpack-extension-zip.ts";
import { ArchiveRefused } from "../../../src/platform/zip/archive-refused.ts";
import { writeZip, type ZipEntry } from "../../support/zip-writer.ts";
import { mutatedBytes } from "../inputs/mutated-bytes.ts";
import { mutatedJson } from "../inputs/mutated-json.ts";
import { mutatedText } from "../inputs/mutated-text.ts";
import { type ScratchFolder, scratchFolder } from "../scratch-folder.ts";
import { type FuzzTarget, must, orRefused } from "../target.ts";

const examples = new URL("../../features/extensions/zip/archives/", import.meta.url);
const archives = readdirSync(examples).map((name) => readFileSync(new URL(name, examples)));

const manifest = {
  manifest_version: 3,
  name: "An extension",
  version: "1.0",
  permissions: ["storage"],
  icons: { 16: "i.png" },
};
const manifests = fc.oneof(
  { weight: 4, arbitrary: fc.constant(JSON.stringify(manifest)) },
  { weight: 1, arbitrary: mutatedJson(fc.constant(manifest)).map((json) => JSON.stringify(json)) },
  { weight: 1, arbitrary: mutatedText(fc.constant(JSON.stringify(manifest)), { tokens: ["//", "/*", "\ufeff", ","] }) },
);
const names = mutatedText(fc.constantFrom("a.js", "b/c.js", "b/", "_locales/en/messages.json", "é.png"), {
  tokens: ["../", "/", "./", "..", "\\", "C:", "a.js", "A.JS", "b", "\0", "\n", "e\u0301"],
  mostChanges: 2,
});
const word = fc.oneof(fc.constantFrom(0, 1, 8, 9, 0xffff, 0xffffffff), fc.nat(300));
const headers = fc.record(
  {
    flag: word,
    method: word,
    crc: word,
    compressedSize: word,
    size: word,
    extra: mutatedBytes(fc.constant(Buffer.from("7570", "hex"))),
  },
  { requiredKeys: [] },
);
const entries: fc.Arbitrary<ZipEntry> = fc
  .record(
    {
      name: names,
      content: fc.oneof(
        fc.string({ maxLength: 200 }),
        fc.nat(4000).map((length) => " ".repeat(length)),
      ),
      method: fc.constantFrom(0, 8),
      descriptor: fc.constantFrom("signed" as const, "unsigned" as const),
      mode: fc.constantFrom(0o100644, 0o120777, 0o40755, 0o20666, 0o104755),
      both: headers,
      local: headers,
      central: headers,
    },
    { requiredKeys: ["name", "content"] },
  )
  .chain((entry) =>
    // Most entries are in order, so that one which is not is seen.
    fc.nat(9).map((luck): ZipEntry => (luck < 6 ? { name: entry.name, content: entry.content } : (entry as ZipEntry))),
  );
const written = fc
  .record({
    manifest: manifests,
    isEndWrong: fc.nat(9).map((luck) => luck === 0),
    entries: fc.array(entries, { maxLength: 5 }),
    end: fc.record({ total: word, size: word, offset: word, commentLength: word }, { requiredKeys: [] }),
  })
  .map(({ manifest: text, entries: more, isEndWrong, end }) =>
    writeZip([{ name: "manifest.json", content: text }, ...more], isEndWrong ? { end: end as never } : {}),
  );

const inputs = fc.oneof(
  mutatedBytes(fc.constantFrom(...archives), {
    tokens: ["PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "PK\x07\x08", "manifest.json"],
  }),
  written,
  mutatedBytes(written, { mostChanges: 2 }),
);

const isRefusal = (error: unknown): boolean => error instanceof ArchiveRefused;

/** What is below a folder must be files and folders, and as many as the check has counted. */
const countFiles = async (folder: string): Promise<number> => {
  const paths = await readdir(folder, { recursive: true });
  const stats = await Promise.all(paths.map((path) => lstat(join(folder, path))));
  must(
    stats.every((stat) => (stat.isFile() && stat.nlink === 1) || stat.isDirectory()),
    "what is no plain file or folder came out",
  );
  return stats.filter((stat) => stat.isFile()).length;
};

/** The two things that are asked of a file, of bytes in memory: reading a file takes longer than the check. */
const asFile = (bytes: Buffer): FileHandle =>
  ({
    stat: async () => ({ size: bytes.length }),
    read: async (buffer: Buffer, offset: number, length: number, position: number) => {
      const bytesRead = position < bytes.length ? bytes.copy(buffer, offset, position, position + length) : 0;
      return { buffer, bytesRead };
    },
  }) as unknown as FileHandle;

/** Of so many refused archives one is unpacked as well: files take time. */
const unpackedShare = 16;

const check = async (bytes: Buffer, scratch: ScratchFolder): Promise<void> => {
  const { signal } = new AbortController();
  const checked = await orRefused(() => checkExtensionZip(asFile(bytes), { signal }), isRefusal);
  const message = "refused" in checked ? (checked.refused as Error).message : "";
  if (message !== "")
    must(
      /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(message) && message.length < 1300,
      "a message that is not fit to be shown",
    );
  if (message !== "" && bytes.length % unpackedShare !== 0) return;
  await writeFile(scratch.archive, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const folder = join(scratch.out, "x");
  const unpacked = await orRefused(
    () => unpackExtensionZip({ path: scratch.archive, folder, sha256 }, { signal }),
    isRefusal,
  );
  const again = "refused" in unpacked ? (unpacked.refused as Error).message : "";
  must(message === again, `the check says "${message}", the unpacking "${again}"`);
  if ("refused" in checked)
    return must((await readdir(scratch.out)).length === 0, "a refused archive leaves something");
  must((await countFiles(folder)) === checked.value.files, "not as many files as the check has counted");
  await scratch.empty();
};

export const target: FuzzTarget<Buffer> = {
  about:
    "Zips of extensions, written anew and changed: the check and the unpacking agree, a refusal is one of the declared kinds, and only plain files below the folder come out.",
  inputs,
  async open() {
    const scratch = await scratchFolder("zip");
    return { check: (bytes) => check(bytes, scratch), isWell: scratch.empty, close: scratch.remove };
  },
};

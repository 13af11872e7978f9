import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackExtensionZip } from "../../../../src/features/extensions/zip/unpack-extension-zip.ts";
import { writeZip, type ZipEntry } from "../../../support/zip-writer.ts";
import { checkFile, manifest } from "./extension-files.ts";
import { filesOf, namedFilesCases } from "./named-files.ts";

const { signal } = new AbortController();
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "valid-zip-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const unpacked = async (bytes: Buffer): Promise<{ folder: string; names: string[] }> => {
  const folder = await mkdtemp(join(scratch, "unpacked-"));
  const path = join(folder, "archive.zip");
  await writeFile(path, bytes);
  const checked = await checkFile(path);
  expect(await unpackExtensionZip({ path, folder: join(folder, "x"), sha256: digestOf(bytes) }, { signal })).toEqual(
    checked,
  );
  return { folder: join(folder, "x"), names: (await readdir(join(folder, "x"), { recursive: true })).sort() };
};

/**
 * The same files as various programs pack them: Info-ZIP 3.0 (also stored, without entries for folders, and as a
 * stream), Python's zipfile (also as a stream), Java's jar, Go's archive/zip, and git archive.
 */
const archives = new URL("./archives/", import.meta.url);

// EXTENSION-6
describe("archives of common programs are taken", async () => {
  test.each(await readdir(archives))("%s", async (name) => {
    const { folder, names } = await unpacked(await readFile(new URL(name, archives)));
    expect(names).toEqual(
      [
        "_locales",
        "_locales/en",
        "_locales/en/messages.json",
        "café.js",
        "empty.txt",
        "lib",
        "lib/a.js",
        "manifest.json",
      ].sort(),
    );
    expect(await readFile(join(folder, "lib/a.js"), "utf8")).toBe(`${"console.log(1);\n".repeat(20)}\n`);
    expect(await readFile(join(folder, "empty.txt"), "utf8")).toBe("");
  });
});

// EXTENSION-6
describe("what is unusual and harmless is taken", () => {
  const taken: [string, ZipEntry[]][] = [
    ["an unsigned data descriptor", [{ name: "a.js", content: "text", descriptor: "unsigned" }]],
    ["a stored entry with a data descriptor", [{ name: "a.js", content: "text", method: 0, descriptor: "signed" }]],
    [
      "a deflated folder",
      [
        { name: "dir/", method: 8 },
        { name: "dir/a.js", content: "text" },
      ],
    ],
    [
      "a folder behind its files",
      [
        { name: "dir/a.js", content: "text" },
        { name: "dir/", method: 0 },
      ],
    ],
    ["a path of 1024 bytes", [{ name: `${"abc/".repeat(255)}abcd`, content: "text" }]],
    ["a part of 255 bytes", [{ name: "a".repeat(255), content: "text" }]],
    ["a small file that is very dense", [{ name: "a.bin", content: Buffer.alloc(900_000) }]],
    ["dots and colons in names", [{ name: "..a/b..c/d:e.js", content: "text" }]],
  ];
  test.each(taken)("%s", async (_title, entries) => {
    const { names } = await unpacked(writeZip([...entries, manifest()], { comment: Buffer.from("made by a test") }));
    for (const { name } of entries) expect(names).toContain(String(name).replace(/\/$/, ""));
  });
});

// EXTENSION-13
test.each([
  ["a comment to the end of its line", '{"manifest_version": 3, // three\n"name": "x // y", "version": "1"}'],
  ["a comment of several lines", '/* "a\n */ {"manifest_version": 3, "name": "x /* y */ \\"", "version": "1"}'],
  ...["0", "0.0.0.0", "1.02", "99999.1", "1.4294967295"].map((version) => [
    `the version ${version}`,
    JSON.stringify({ manifest_version: 3, name: "x", version }),
  ]),
])("a manifest with %s is taken, as Chromium takes it", async (_what, content = "") => {
  const { names } = await unpacked(writeZip([{ name: "manifest.json", content }]));
  expect(names).toEqual(["manifest.json"]);
});

// EXTENSION-14
describe("the files that a manifest names", () => {
  test.each(namedFilesCases)("$what", async ({ refused, ...extension }) => {
    const files = Object.entries(filesOf(extension)).map(([name, content]) => ({ name, content }));
    const checked = unpacked(writeZip([...files, manifest(extension.fields)]));
    if (refused === undefined) await checked;
    else
      await expect(checked).rejects.toMatchObject({ rule: "bad_manifest", message: expect.stringContaining(refused) });
  });
});

// EXTENSION-7
test("an archive gives its files no rights", async () => {
  const modes = { "run.sh": 0o104777, "odd/": 0o041777, "odd/none": 0o100000 };
  const entries = Object.entries(modes).map(([name, mode]) => ({ name, mode, method: name.endsWith("/") ? 0 : 8 }));
  const { folder } = await unpacked(writeZip([manifest(), ...entries]));
  const modeOf = async (name: string): Promise<number> => (await stat(join(folder, name))).mode & 0o7777;
  expect(await modeOf("run.sh")).toBe(0o644);
  expect(await modeOf("odd/none")).toBe(0o644);
  expect(await modeOf("odd")).toBe(0o755);
});

// EXTENSION-7
test("nothing is unpacked over what is there, which stays", async () => {
  const path = join(scratch, "archive.zip");
  const bytes = writeZip([manifest()]);
  await writeFile(path, bytes);
  const folder = join(scratch, "there");
  await mkdir(folder);
  await writeFile(join(folder, "mine"), "kept");
  await expect(unpackExtensionZip({ path, folder, sha256: digestOf(bytes) }, { signal })).rejects.toMatchObject({
    code: "EEXIST",
  });
  expect(await readdir(folder)).toEqual(["mine"]);
});

// EXTENSION-7
test("an unpacking that is aborted leaves nothing", async () => {
  const path = join(scratch, "aborted.zip");
  const bytes = writeZip([manifest(), { name: "a.js", content: "x" }]);
  await writeFile(path, bytes);
  const sha256 = digestOf(bytes);
  const folder = join(scratch, "aborted");
  const reason = new Error("no longer wanted");
  await expect(unpackExtensionZip({ path, folder, sha256 }, { signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
  await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
});

// EXTENSION-7
test("another archive than the expected one is not unpacked", async () => {
  const path = join(scratch, "other.zip");
  await writeFile(path, writeZip([manifest()]));
  const folder = join(scratch, "other");
  const sha256 = digestOf(writeZip([manifest({ name: "Expected" })]));
  await expect(unpackExtensionZip({ path, folder, sha256 }, { signal })).rejects.toMatchObject({
    rule: "wrong_digest",
  });
  await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
});

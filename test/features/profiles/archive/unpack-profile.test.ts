import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { Header, Pax } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { archiveLimits, ProfileArchiveError } from "../../../../src/features/profiles/archive/limits.ts";
import { unpackProfile } from "../../../../src/features/profiles/archive/unpack-profile.ts";

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "unpack-"));
  folder = join(parent, "profile");
  await mkdir(folder);
});
afterEach(() => rm(parent, { recursive: true, force: true }));

type Entry = {
  path: string;
  type?: string;
  linkpath?: string;
  contents?: string | Buffer;
  size?: number;
  mode?: number;
};

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);

const entryBytes = ({ path, type = "File", linkpath, contents = "", size, mode = 0o644 }: Entry): Buffer => {
  const bytes = Buffer.from(contents);
  const header = new Header({ path, type, linkpath, size: size ?? bytes.length, mode, mtime: new Date(0) } as never);
  header.encode();
  return Buffer.concat([header.block ?? Buffer.alloc(0), padded(bytes)]);
};
const end = Buffer.alloc(1024);
const tarOf = (...entries: Entry[]): Buffer => Buffer.concat([...entries.map(entryBytes), end]);

async function* inChunks(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const unpackBytes = (bytes: Uint8Array, limits = {}, size?: number): Promise<void> =>
  unpackProfile(
    { archive: inChunks(bytes, size), folder },
    { signal: AbortSignal.timeout(30_000), limits: { ...archiveLimits, ...limits } },
  );
const unpack = (tar: Buffer, limits = {}): Promise<void> => unpackBytes(zstdCompressSync(tar), limits);
const outside = (): Promise<string[]> => readdir(parent);

// PROFILE-19
test.each<[string, Entry]>([
  ["a path above the folder", { path: "../evil", contents: "x" }],
  ["a path that climbs out", { path: "Default/../../evil", contents: "x" }],
  ["an absolute path", { path: "/tmp/unpack-evil", contents: "x" }],
  ["an absolute path behind a dot", { path: ".//tmp/evil", contents: "x" }],
  ["a symbolic link", { path: "Default", type: "SymbolicLink", linkpath: "/etc" }],
  ["a hard link", { path: "a", type: "Link", linkpath: "/etc/passwd" }],
  ["a device", { path: "null", type: "CharacterDevice" }],
  ["a pipe", { path: "pipe", type: "FIFO" }],
  ["a file of holes", { path: "x", type: "ContiguousFile" }],
])("%s is refused, and nothing appears elsewhere", async (_what, entry) => {
  await expect(unpack(tarOf(entry))).rejects.toThrow(/the archive has/);
  expect(await outside()).toEqual(["profile"]);
  expect(await readdir(folder)).toEqual([]);
});

// PROFILE-19
test("a long header can't hide what an entry is", async () => {
  const pax = (fields: object): Buffer => new Pax(fields as never).encode();
  const plain = entryBytes({ path: "plain", contents: "x" });
  for (const fields of [
    { path: "../evil" },
    { path: "/evil" },
    { path: "a/../../evil" },
    { path: `${"d/".repeat(40)}f` },
  ])
    await expect(unpack(Buffer.concat([pax(fields), plain, end])), JSON.stringify(fields)).rejects.toThrow();
  expect(await outside()).toEqual(["profile"]);
  const huge = Buffer.concat([entryBytes({ path: "x", type: "ExtendedHeader", contents: "1".repeat(100_000) }), plain]);
  await expect(unpack(Buffer.concat([huge, end]))).rejects.toThrow("unknown kind");
});

// PROFILE-19
test("an entry never writes over another one, nor below a file", async () => {
  const file = { path: "Default/Cookies", contents: "first" };
  await expect(unpack(tarOf(file, { ...file, contents: "second" }))).rejects.toThrow("EEXIST");
  expect(await readFile(join(folder, "Default/Cookies"), "utf8")).toBe("first");
  await expect(unpack(tarOf({ path: "Default/Cookies/x", contents: "x" }))).rejects.toThrow(/ENOTDIR|EEXIST/);
});

// PROFILE-19
test.each<[string, Entry[]]>([
  ["twice", [{ path: "a/b" }, { path: "a/b" }]],
  ["below a file", [{ path: "a" }, { path: "a/b" }]],
  ["as a folder below a file", [{ path: "a" }, { path: "a/b/", type: "Directory" }]],
  ["as a folder and as a file", [{ path: "a/b/", type: "Directory" }, { path: "a/b" }]],
])("an archive that has a path %s is refused as an archive, not as trouble with the disk", async (_how, entries) => {
  const error = await unpack(tarOf(...entries)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProfileArchiveError);
  expect(`${error}`).not.toContain(folder);
});

// PROFILE-17
test("what archives leave out is not unpacked, whoever has put it in", async () => {
  await unpack(
    tarOf({ path: "Default/Sessions/Tabs_1", contents: "x" }, { path: "SingletonLock" }, { path: "Default/a" }),
  );
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(["Default", "Default/a"]);
});

// PROFILE-18
test.each<[string, object, string]>([
  ["too many entries", { entries: 2 }, "more than 2 files"],
  ["too many bytes", { bytes: 20 }, "or 20 bytes"],
  ["too many packed bytes", { packedBytes: 10 }, "more than 10 bytes"],
  ["a path too deep", { depth: 1 }, "a path that no profile has"],
  ["a name too long", { nameBytes: 5 }, "a path that no profile has"],
  ["a path too long", { pathBytes: 8 }, "a path that no profile has"],
])("%s is refused", async (_what, limits, message) => {
  const entries = ["Default/a", "Default/b", "Default/c"].map((path) => ({ path, contents: "ten bytes." }));
  await expect(unpack(tarOf(...entries), limits)).rejects.toThrow(message);
});

// PROFILE-18
test("a bomb is stopped at its limit, whether it is in the files, the padding or a window", async () => {
  const limits = { bytes: 1_000_000, entries: 10 };
  const file = tarOf({ path: "zeros", contents: Buffer.alloc(5_000_000) });
  await expect(unpack(file, limits)).rejects.toThrow("or 1000000 bytes");
  const padding = Buffer.concat([tarOf({ path: "a", contents: "x" }), Buffer.alloc(50_000_000)]);
  await expect(unpack(padding, limits)).rejects.toThrow("the unpacked archive");
  const wide = zstdCompressSync(Buffer.alloc(80_000_000), { params: { [constants.ZSTD_c_windowLog]: 26 } });
  await expect(unpackBytes(wide)).rejects.toThrow("no zstd");
});

// PROFILE-19
test("what is no archive, or not a whole one, is refused", async () => {
  const whole = zstdCompressSync(
    tarOf({ path: "a", contents: Buffer.alloc(100_000, 1) }, { path: "b", contents: "x" }),
  );
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from("no archive"),
    whole.subarray(0, -10),
    gzipSync(tarOf({ path: "a" })),
  ])
    await expect(unpackBytes(bytes)).rejects.toThrow("archive");
  await expect(unpack(Buffer.from("no tar".repeat(1000)))).rejects.toThrow("archive");
  // Compressed once more: the second layer would be unpacked without limits.
  await expect(unpack(gzipSync(tarOf({ path: "a" })))).rejects.toThrow("archive");
  await expect(unpack(zstdCompressSync(tarOf({ path: "a" })))).rejects.toThrow("archive");
  const cut = tarOf({ path: "a", contents: Buffer.alloc(100_000, 1) }).subarray(0, 50_000);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await expect(unpack(cut)).rejects.toThrow("archive");
});

test("the error of the source and the reason of the signal come through", async () => {
  const broken = new Error("the store is gone");
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield zstdCompressSync(tarOf({ path: "a", contents: "x" })).subarray(0, 20);
    throw broken;
  };
  const unpacking = unpackProfile({ archive: source(), folder }, { signal: AbortSignal.timeout(10_000) });
  await expect(unpacking).rejects.toBe(broken);
  const reason = new Error("stopped");
  const archive = inChunks(zstdCompressSync(tarOf({ path: "a", contents: "x" })));
  await expect(unpackProfile({ archive, folder }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

// PROFILE-19
test("bytes changed anywhere give an error or files below the folder, and never hang", async () => {
  const good = tarOf(
    { path: "Default/", type: "Directory" },
    { path: "Default/a", contents: "x".repeat(600) },
    { path: "b", contents: "y" },
  );
  const change = fc.tuple(fc.nat(good.length - 1), fc.uint8Array({ minLength: 1, maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 700 }),
      async (changes, size) => {
        const bytes = Buffer.from(good);
        for (const [at, put] of changes) bytes.set(put.subarray(0, bytes.length - at), at);
        await rm(folder, { recursive: true, force: true });
        await mkdir(folder);
        await unpackBytes(zstdCompressSync(bytes), {}, size).catch(() => undefined);
        expect(await outside()).toEqual(["profile"]);
      },
    ),
    { numRuns: 300 },
  );
});

test("an archive comes out the same in chunks of any size", async () => {
  const packed = zstdCompressSync(
    tarOf({ path: "a", contents: Buffer.alloc(10_000, 1) }, { path: "b/c", contents: "x" }),
  );
  await unpackBytes(packed, {}, 1);
  expect((await readFile(join(folder, "a"))).equals(Buffer.alloc(10_000, 1))).toBe(true);
  expect(await readFile(join(folder, "b/c"), "utf8")).toBe("x");
});

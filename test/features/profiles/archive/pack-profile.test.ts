import { randomBytes } from "node:crypto";
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { archiveLimits } from "../../../../src/features/profiles/archive/limits.ts";
import { packProfile } from "../../../../src/features/profiles/archive/pack-profile.ts";
import { unpackProfile } from "../../../../src/features/profiles/archive/unpack-profile.ts";

let folder: string;
let source: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "archive-"));
  [source, target] = [join(folder, "source"), join(folder, "target")];
  await mkdir(source);
  await mkdir(target);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = async (path: string, contents: string | Uint8Array = path): Promise<void> => {
  await mkdir(dirname(join(source, path)), { recursive: true });
  await writeFile(join(source, path), contents);
};
const signal = AbortSignal.timeout(60_000);
const collect = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};
/** Packs the source and unpacks it into the target; returns the paths of the files there. */
const carry = async (): Promise<string[]> => {
  await unpackProfile({ archive: packProfile(source, { signal }), folder: target }, { signal });
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(target.length + 1))
    .sort();
};

// PROFILE-17
test("files come back with their bytes, readable by their owner alone", async () => {
  const long = `Default/IndexedDB/https_${"very-long-name.".repeat(12)}example_0.indexeddb.leveldb/000003.log`;
  const paths = ["Local State", "Default/Cookies", "Default/Preferences", long, "Default/@file", "Default/naïve ☃"];
  for (const path of paths) await write(path);
  await write("Default/Large", Buffer.alloc(3_000_001, 7));
  await write("Default/Empty", "");
  await mkdir(join(source, "Default/Folder/Inner"), { recursive: true });
  expect(await carry()).toEqual([...paths, "Default/Large", "Default/Empty"].sort());
  for (const path of paths) expect(await readFile(join(target, path), "utf8")).toBe(path);
  expect((await readFile(join(target, "Default/Large"))).equals(Buffer.alloc(3_000_001, 7))).toBe(true);
  expect((await stat(join(target, "Default/Folder/Inner"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(target, "Default/Cookies"))).mode & 0o777).toBe(0o600);
});

// PROFILE-17
test("caches, tabs, crash reports and what belongs to one process stay behind", async () => {
  const kept = ["Default/Cookies", "Default/Service Worker/CacheStorage/a", "Default/Local Storage/leveldb/000003.log"];
  const left = [
    ...[
      "Crashpad/reports/x.dmp",
      "ShaderCache/index",
      "component_crx_cache/x",
      "DevToolsActivePort",
      "SingletonCookie",
    ],
    ...["Default/Cache/Cache_Data/data_0", "Default/Code Cache/js/x", "Default/GPUCache/index"],
    ...["Default/Sessions/Tabs_1", "Default/Sessions_Encrypted/Tabs_1", "Default/.org.chromium.Chromium.abc"],
  ];
  for (const path of [...kept, ...left]) await write(path);
  expect(await carry()).toEqual(kept.sort());
});

// PROFILE-17
test("links and sockets are not followed and not packed", async () => {
  await write("Default/Cookies");
  await writeFile(join(folder, "outside"), "secret");
  await symlink(join(folder, "outside"), join(source, "Default/Link"));
  await symlink(folder, join(source, "Default/Folder"));
  await link(join(folder, "outside"), join(source, "Default/Hard"));
  const server: Server = createServer().listen(join(source, "Default/socket"));
  try {
    expect(await carry()).toEqual(["Default/Cookies"]);
  } finally {
    server.close();
  }
});

test("an empty profile is an archive, too", async () => {
  expect(await carry()).toEqual([]);
});

test("equal profiles give equal archives", async () => {
  for (const path of ["b", "a/c", "a/b"]) await write(path);
  const [first, second] = [
    await collect(packProfile(source, { signal })),
    await collect(packProfile(source, { signal })),
  ];
  expect(first.equals(second)).toBe(true);
});

// PROFILE-18
test.each([
  ["files", { entries: 2 }, "more than 2 files"],
  ["bytes", { bytes: 2_000_000 }, "more than 1 MiB"],
  ["bytes when packed", { packedBytes: 1024 ** 2 }, "the packed profile has more than 1 MiB"],
])("a profile with too many %s is refused", async (_what, limit, message) => {
  await write("a", crypto.getRandomValues(new Uint8Array(60_000)));
  for (const name of ["b", "c"])
    await write(name, Buffer.concat(Array.from({ length: 20 }, () => crypto.getRandomValues(new Uint8Array(60_000)))));
  const packed = collect(packProfile(source, { signal, limits: { ...archiveLimits, ...limit } }));
  await expect(packed).rejects.toThrow(message);
});

test("a file that goes while the profile is packed fails the archive: none is cut off and called whole", async () => {
  // Some are opened ahead.
  const names = Array.from({ length: 20 }, (_, n) => `Default/${String(n).padStart(2, "0")}`);
  for (const name of names) await write(name, randomBytes(2_000_000));
  const chunks = packProfile(source, { signal });
  await chunks.next();
  await rm(join(source, names.at(-1) ?? ""));
  await expect(collect(chunks)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a folder that is not there, and an aborted signal, are told", async () => {
  await expect(collect(packProfile(join(folder, "none"), { signal }))).rejects.toThrow("ENOENT");
  await write("a");
  const reason = new Error("stopped");
  await expect(collect(packProfile(source, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
});

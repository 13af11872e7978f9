import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { openFiles } from "../../support/open-files.ts";
import { blobStoreContract, call, chunksOf } from "./blob-store-contract.ts";

let parent: string;
let folder: string;
let store: BlobStore;

const open = async (): Promise<BlobStore> => (await openBlobStore({ kind: "folder", path: folder })).store;
const put = (key: string, text: string) => store.put(key, chunksOf(Buffer.from(text)), call());
const parts = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith("."));

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "blobs-"));
  folder = join(parent, "deep", "blobs");
  store = await open();
});
afterAll(() => rm(parent, { recursive: true, force: true }));

blobStoreContract(() => store, parts);

test("only the service's own user may read what is in the folder", async () => {
  await put("profiles/modes/1", "private");
  const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8);
  expect(await readFile(join(folder, "profiles/modes/1"), "utf8")).toBe("private");
  expect([await modeOf(""), await modeOf("profiles"), await modeOf("profiles/modes")]).toEqual(["700", "700", "700"]);
  expect(await modeOf("profiles/modes/1")).toBe("600");
});

test("a get whose caller hung up meanwhile keeps no file open", async () => {
  await put("profiles/aborted/1", "x");
  const openBlobs = async (): Promise<number> => (await openFiles()).filter((path) => path.startsWith(folder)).length;
  await store.get("profiles/aborted/1", { signal: AbortSignal.abort(new Error("the caller is gone")) });
  await expect.poll(openBlobs).toBe(0);
});

test("the last blob of a folder takes the folder with it", async () => {
  await put("extensions/alone/1", "x");
  await store.delete("extensions/alone/1", call());
  expect(await readdir(folder)).not.toContain("extensions");
});

// versitygw itself mixes up puts and deletes of one folder, and S3 has no folders: so this is for our folder alone.
test("takes many puts and deletes of one folder at once", async () => {
  const rounds = Array.from({ length: 20 }, async (_, at) => {
    await put(`extensions/crowd/${at % 4}`, `${at}`);
    await turn();
    await store.delete(`extensions/crowd/${at % 4}`, call());
  });
  await Promise.all(rounds);
  expect(await readdir(folder)).not.toContain("extensions");
});

test("a start removes what a crash left, and neither what is being written nor anything else", async () => {
  const dead = `.${crypto.randomUUID()}.part`;
  const living = `.${crypto.randomUUID()}.part`;
  for (const name of [dead, living, ".keep"]) await writeFile(join(folder, name), "x");
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [dead, ".keep"]) await utimes(join(folder, name), longAgo, longAgo);
  await open();
  expect((await parts()).sort()).toEqual([living, ".keep"].sort());
  for (const name of [living, ".keep"]) await rm(join(folder, name));
});

test("a folder that is gone is a store that does not answer", async () => {
  const path = join(parent, "gone");
  const { store: lost } = await openBlobStore({ kind: "folder", path });
  await rm(path, { recursive: true });
  const unavailable = { code: "unavailable", retryAfterSeconds: 1 };
  await expect(lost.check(call())).rejects.toMatchObject(unavailable);
  await expect(lost.put("profiles/a/1", chunksOf(Buffer.from("x")), call())).rejects.toMatchObject(unavailable);
  await expect(lost.get("profiles/a/1", call())).rejects.toMatchObject(unavailable);
  await expect(lost.delete("profiles/a/1", call())).rejects.toMatchObject(unavailable);
});

test("a blob is not missed in the moment in which its folder comes back", async () => {
  const path = join(parent, "back");
  const { store: returning } = await openBlobStore({ kind: "folder", path });
  await returning.put("profiles/a/1", chunksOf(Buffer.from("x")), call());
  const seen = new Set<string>();
  for (let round = 0; round < 300; round++) {
    await rename(path, `${path}.away`);
    const reads = Array.from({ length: 4 }, () => returning.get("profiles/a/1", call()).catch(() => "away" as const));
    await rename(`${path}.away`, path);
    for (const got of await Promise.all(reads)) {
      if (typeof got === "object") for await (const _ of got.body);
      seen.add(typeof got === "object" ? "there" : `${got}`);
    }
  }
  expect(seen).not.toContain("undefined");
});

test("a start names a folder that can't be used", async () => {
  await writeFile(join(parent, "file"), "");
  await expect(openBlobStore({ kind: "folder", path: join(parent, "file", "blobs") })).rejects.toThrow(
    join(parent, "file", "blobs"),
  );
});

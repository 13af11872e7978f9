/** What every blob store does. Each implementation runs this suite. */
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";

export const call = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(30_000) });

export async function* chunksOf(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let place = 0; place < bytes.length; place += size) yield bytes.subarray(place, place + size);
}

export const readBlob = async (store: BlobStore, key: string): Promise<Buffer | undefined> => {
  const blob = await store.get(key, call());
  if (!blob) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of blob.body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  expect(blob.bytes).toBe(bytes.length);
  return bytes;
};

/** A body that gives its bytes and then stands still; `reached` resolves when all were taken. */
export const stalledAfter = (bytes: Uint8Array) => {
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield* chunksOf(bytes);
    reached.resolve();
    await goOn.promise;
    yield* chunksOf(bytes);
  };
  return { body: body(), reached: reached.promise, goOn: goOn.resolve };
};

/** More than one part of a multipart upload, and no multiple of it. */
export const manyParts = 20 * 1024 * 1024 + 12_345;

/** `store`: called in each test. `leftovers`: names of what a put left behind beside whole blobs. */
export const blobStoreContract = (store: () => BlobStore, leftovers: () => Promise<string[]>): void => {
  describe("a blob store", () => {
    test.each([0, 1, 1000, 8 * 1024 * 1024, manyParts])("gives back %d bytes, with size and digest", async (size) => {
      const bytes = randomBytes(size);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      expect(await store().put(`profiles/size-${size}/1`, chunksOf(bytes), call())).toEqual({ bytes: size, sha256 });
      expect((await readBlob(store(), `profiles/size-${size}/1`))?.equals(bytes)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test("has nothing under a key that was never stored, and deletes it without a word", async () => {
      expect(await store().get("profiles/none/1", call())).toBeUndefined();
      for (const key of ["profiles/none/1", "profiles/none"]) await store().delete(key, call());
    });

    test("deletes what is gone already, beside others and where there are none", async () => {
      for (const key of ["gone/1", "gone/2"])
        await store().put(`extensions/${key}`, chunksOf(Buffer.from("x")), call());
      for (const key of ["gone/1", "gone/1", "gone/2", "gone/2"]) await store().delete(`extensions/${key}`, call());
      expect(await store().get("extensions/gone/1", call())).toBeUndefined();
    });

    test("gives a part of a blob, and lists those of one folder with their sizes and times", async () => {
      const bytes = randomBytes(300_000);
      const before = Date.now() - 60_000;
      await store().put("listed/a/1", chunksOf(bytes), call());
      await store().put("listed/b/2", chunksOf(bytes), call());
      await store().put("listed-too/a/1", chunksOf(bytes), call());
      const part = await store().get("listed/a/1", { ...call(), range: { start: 70_001, end: 200_000 } });
      expect(part?.bytes).toBe(129_999);
      const chunks: Uint8Array[] = [];
      for await (const chunk of part?.body ?? []) chunks.push(chunk);
      expect(Buffer.concat(chunks).equals(bytes.subarray(70_001, 200_000))).toBe(true);
      const listed = [];
      for await (const blob of store().list("listed", call())) listed.push(blob);
      expect(listed.map(({ key }) => key).sort()).toEqual(["listed/a/1", "listed/b/2"]);
      for (const { storedMs, bytes: size } of listed) {
        expect(storedMs).toBeGreaterThan(before);
        expect(size).toBe(bytes.length);
      }
      const none = [];
      for await (const blob of store().list("nothing-there", call())) none.push(blob);
      expect(none).toEqual([]);
    });

    test("replaces what was there, and deletes one key without its neighbours", async () => {
      const put = (key: string, text: string) => store().put(key, chunksOf(Buffer.from(text)), call());
      await put("profiles/pair/1", "first");
      await put("profiles/pair/1", "second");
      await put("profiles/pair/2", "other");
      expect(`${await readBlob(store(), "profiles/pair/1")}`).toBe("second");
      await store().delete("profiles/pair/1", call());
      expect(await store().get("profiles/pair/1", call())).toBeUndefined();
      expect(`${await readBlob(store(), "profiles/pair/2")}`).toBe("other");
      await store().delete("profiles/pair/2", call());
      await put("profiles/pair/2", "again");
      expect(`${await readBlob(store(), "profiles/pair/2")}`).toBe("again");
    });

    test.each([100_000, manyParts])(
      "keeps what was there when a body fails after %d bytes, and throws its error",
      async (size) => {
        const key = `profiles/failing-${size}/1`;
        await store().put(key, chunksOf(Buffer.from("before")), call());
        const failure = new Error("the uploader hung up");
        const failing = async function* (): AsyncGenerator<Uint8Array> {
          yield* chunksOf(randomBytes(size));
          throw failure;
        };
        await expect(store().put(key, failing(), call())).rejects.toBe(failure);
        expect(`${await readBlob(store(), key)}`).toBe("before");
        expect(await leftovers()).toEqual([]);
      },
    );

    test.each([100_000, manyParts])(
      "gives up a body that stands still after %d bytes when its caller does",
      async (size) => {
        const key = `profiles/stalled-${size}/1`;
        const { body, reached } = stalledAfter(randomBytes(size));
        const caller = new AbortController();
        const put = store().put(key, body, { signal: caller.signal });
        await Promise.race([reached, put]);
        const reason = new Error("the caller is gone");
        caller.abort(reason);
        await expect(put).rejects.toBe(reason);
        expect(await store().get(key, call())).toBeUndefined();
        expect(await leftovers()).toEqual([]);
      },
    );

    test("shows other readers only what is whole", async () => {
      const key = "profiles/slow/1";
      const half = randomBytes(10 * 1024 * 1024);
      const { body, reached, goOn } = stalledAfter(half);
      const put = store().put(key, body, call());
      await Promise.race([reached, put]);
      expect(await store().get(key, call())).toBeUndefined();
      goOn();
      await put;
      expect((await readBlob(store(), key))?.length).toBe(2 * half.length);
    });

    test("lets a reader stop in the middle, and ends one whose call is aborted", async () => {
      const key = "profiles/reader/1";
      await store().put(key, chunksOf(randomBytes(manyParts)), call());
      for await (const chunk of (await store().get(key, call()))?.body ?? []) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      const caller = new AbortController();
      const blob = await store().get(key, { signal: caller.signal });
      const reason = new Error("the caller is gone");
      const reading = (async () => {
        for await (const _ of blob?.body ?? []) caller.abort(reason);
      })();
      await expect(reading).rejects.toBe(reason);
    });

    test.each([
      "../x",
      "profiles/../../x",
      "/etc/passwd",
      "a//b",
      "",
      ".x.part",
      "a/b.c",
      "A",
      "a\0",
      "a\\b",
      `a${"/a".repeat(4)}`,
    ])("takes no key like %j", async (key) => {
      const text = chunksOf(Buffer.from("x"));
      await expect(store().put(key, text, call())).rejects.toThrow("bad key of a blob");
      await expect(store().get(key, call())).rejects.toThrow("bad key of a blob");
      await expect(store().delete(key, call())).rejects.toThrow("bad key of a blob");
    });

    test("says that it answers", async () => {
      await store().check(call());
    });
  });
};

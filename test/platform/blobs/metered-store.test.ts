import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unavailable } from "../../../src/platform/base/errors.ts";
import { openFolderStore } from "../../../src/platform/blobs/folder-store.ts";
import { meteredStore } from "../../../src/platform/blobs/metered-store.ts";

const { signal } = new AbortController();

test("calls of a store are told of by operation and result, but not what no store failed in", async () => {
  const folder = await mkdtemp(join(tmpdir(), "metered-"));
  try {
    const real = await openFolderStore(folder);
    const told: string[] = [];
    const store = meteredStore(
      {
        ...real,
        check: async () => {
          throw unavailable("the store of blobs");
        },
        delete: async () => {
          throw new Error("a defect");
        },
      },
      (operation, result, seconds) => {
        expect(seconds).toBeGreaterThanOrEqual(0);
        told.push(`${operation} ${result}`);
      },
    );
    const body = async function* () {
      yield Buffer.from("text");
    };
    await store.put("profiles/a", body(), { signal });
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await store.get("profiles/a", { signal }))?.body ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe("text");
    expect(await store.get("profiles/b", { signal })).toBeUndefined();
    await expect(store.check({ signal })).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.delete("profiles/a", { signal })).rejects.toThrow("a defect");
    const listed: string[] = [];
    for await (const { key } of store.list("profiles", { signal })) listed.push(key);
    expect(listed).toEqual(["profiles/a"]);
    expect(told).toEqual(["put ok", "get ok", "get ok", "check error"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

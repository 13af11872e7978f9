import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackExtensionZip } from "../../../../src/features/extensions/zip/unpack-extension-zip.ts";
import { ArchiveRefused } from "../../../../src/platform/zip/archive-refused.ts";
import { checkFile } from "./extension-files.ts";
import { data } from "./hostile/data.ts";
import { fileKinds } from "./hostile/file-kinds.ts";
import { headers } from "./hostile/headers.ts";
import { manifests } from "./hostile/manifests.ts";
import { names } from "./hostile/names.ts";
import { places } from "./hostile/places.ts";
import { sizes } from "./hostile/sizes.ts";
import { zip64 } from "./hostile/zip64.ts";

/** The archives, by what they attack. */
const groups = { names, fileKinds, sizes, data, headers, zip64, places, manifests };
const hostileArchives = Object.values(groups).flat();

const { signal } = new AbortController();
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "hostile-zip-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const refusalOf = async (work: Promise<unknown>): Promise<ArchiveRefused> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ArchiveRefused);
  return error as ArchiveRefused;
};

test("no hostile archive is lost, and each has a title of its own", () => {
  expect(Object.fromEntries(Object.entries(groups).map(([group, archives]) => [group, archives.length]))).toEqual({
    names: 26,
    fileKinds: 12,
    sizes: 9,
    data: 16,
    headers: 15,
    zip64: 5,
    places: 19,
    manifests: 24,
  });
  expect(new Set(hostileArchives.map(({ title }) => title)).size).toBe(hostileArchives.length);
});

// EXTENSION-6, EXTENSION-7
describe("a hostile archive is refused by name and rule, and nothing is written", () => {
  test.each(hostileArchives)("$title", async ({ rule, names, bytes }) => {
    const deep = join(scratch, "outer", "inner");
    await mkdir(deep, { recursive: true });
    const path = join(scratch, "archive.zip");
    const archive = bytes();
    const sha256 = createHash("sha256").update(archive).digest("hex");
    await writeFile(path, archive);
    try {
      const folder = join(deep, "x");
      const ways = [() => checkFile(path), () => unpackExtensionZip({ path, folder, sha256 }, { signal })];
      for (const way of ways) {
        const error = await refusalOf(way());
        expect(error.rule, error.message).toBe(rule);
        expect(error.message).toContain(names);
        expect(error.message).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u);
        expect(error.message.length).toBeLessThan(400);
      }
      expect(await readdir(scratch, { recursive: true })).toEqual(["archive.zip", "outer", "outer/inner"]);
    } finally {
      await rm(join(scratch, "outer"), { recursive: true });
      await rm(path);
    }
  });
});

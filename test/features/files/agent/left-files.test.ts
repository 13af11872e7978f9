/** What an agent keeps of a folder at the end of a lease, while others write there. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLeftFiles, type LeftFiles } from "../../../../src/features/files/agent/left-files.ts";
import { createSessionFolder } from "../../../../src/features/files/agent/session-folder.ts";
import type { FileInfo } from "../../../../src/features/files/calls.ts";
import { readIndex, type StoredIndex } from "../../../../src/features/files/stored-index.ts";

let base: string;
let folder: string;
let dataDir: string;
let left: LeftFiles;
const make = (mostBytes?: number): LeftFiles =>
  createLeftFiles(
    createSessionFolder(folder, (name) => name === ".agents"),
    dataDir,
    mostBytes,
  );
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "left-"));
  [folder, dataDir] = [join(base, "tmp"), join(base, "data")];
  for (const one of [folder, dataDir]) await mkdir(one);
  left = make();
});
afterEach(async () => {
  await left.settled(0);
  execFileSync("chmod", ["-R", "u+rwx", base]);
  await rm(base, { recursive: true, force: true });
});

const { signal } = new AbortController();

/** What the API would get of a session: its index and the bytes of its files; or what is said instead. */
const read = async (session: string): Promise<{ index: StoredIndex; content: Buffer } | object | undefined> => {
  const parts = left.read(session);
  if (!parts) return undefined;
  const [bytes, said]: [Buffer[], object[]] = [[], []];
  for await (const part of parts(signal)) {
    if ("bytes" in part) bytes.push(part.bytes);
    else said.push(part);
  }
  const [first = {}] = said as { indexBytes?: number }[];
  if (first.indexBytes === undefined) return first;
  const all = Buffer.concat(bytes);
  return { index: readIndex(all.subarray(0, first.indexBytes)), content: all.subarray(first.indexBytes) };
};
const keep = async (session: string) => {
  left.begin(session);
  await left.end();
  return (await read(session)) as { index: StoredIndex; content: Buffer };
};
const namesIn = (index: StoredIndex, names: string[] = []): string[] =>
  [...index.entries(names)].map(({ name }) => name).sort();
const textOf = ({ index, content }: { index: StoredIndex; content: Buffer }, ...names: string[]): string => {
  const { at = Number.NaN, size_bytes: bytes } = index.entry(names) ?? { size_bytes: 0 };
  return content.toString("utf8", at, at + bytes);
};

// FILE-12
test("all that is in the folder is in the index, with any name, and the bytes of each file are where it says", async () => {
  const strange = ['"],["a"]\t', "\\", "\u202e", "文件", "a\nb", "x[", ","];
  await mkdir(join(folder, "a", "b"), { recursive: true });
  await mkdir(join(folder, ".agents"));
  for (const name of strange) {
    await mkdir(join(folder, "d", name), { recursive: true });
    await writeFile(join(folder, "d", name, name), `in ${name}`);
  }
  await writeFile(join(folder, "a", "b", "large"), Buffer.alloc(700_000, "x"));
  await writeFile(join(folder, "a", "empty"), "");
  const kept = await keep("s");
  expect(namesIn(kept.index)).toEqual(["a", "d"]);
  expect(namesIn(kept.index, ["a"])).toEqual(["b", "empty"]);
  expect(namesIn(kept.index, ["d"])).toEqual([...strange].sort());
  expect(namesIn(kept.index, ["nothing"])).toEqual([]);
  for (const name of strange) {
    expect(namesIn(kept.index, ["d", name])).toEqual([name]);
    expect(textOf(kept, "d", name, name)).toBe(`in ${name}`);
  }
  expect(textOf(kept, "a", "b", "large")).toBe("x".repeat(700_000));
  expect(textOf(kept, "a", "empty")).toBe("");
  const below = [...kept.index.below(["a"])].map(({ names }) => names.join("/")).sort();
  expect(below).toEqual(["a/b", "a/b/large", "a/empty"]);
  // A name in another place of a line is no folder.
  expect([...kept.index.below([","])]).toEqual([]);
});

// FILE-13
test("no link is followed, only plain files are copied, and what can't be read has no bytes", async () => {
  await mkdir(join(base, "outside"));
  await writeFile(join(base, "outside", "secret"), "secret");
  await symlink(join(base, "outside", "secret"), join(folder, "to-file"));
  await symlink(join(base, "outside"), join(folder, "to-folder"));
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await writeFile(join(folder, "plain"), "plain");
  const kept = await keep("s");
  expect([namesIn(kept.index), kept.content.toString()]).toEqual([["pipe", "plain", "to-file", "to-folder"], "plain"]);
  expect(kept.index.entry(["to-file"])).toMatchObject({ mode: expect.stringMatching(/^l/), is_dir: false });
  expect(kept.index.entry(["to-file"])?.at).toBeUndefined();
});

// FILE-13
test("a link that takes the place of a folder or a file in between leads nowhere", async () => {
  await mkdir(join(base, "outside"));
  for (const name of ["f", "sub"]) await writeFile(join(base, "outside", name), "secret");
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver) {
      for (const name of ["one", "two"]) {
        await rename(join(folder, name), join(folder, `${name}-former`)).catch(() => undefined);
        await symlink(join(base, "outside"), join(folder, name)).catch(() => undefined);
        await rm(join(folder, name), { force: true, recursive: true });
        await rename(join(folder, `${name}-former`), join(folder, name)).catch(() => undefined);
      }
    }
  };
  for (const name of ["one", "two"]) await mkdir(join(folder, name));
  const swapping = swap();
  try {
    for (let turn = 0; turn < 60; turn += 1) {
      for (const name of ["one", "two"]) await writeFile(join(folder, name, "f"), "mine").catch(() => undefined);
      await writeFile(join(folder, "always"), "mine");
      const kept = await keep(`s${turn}`);
      expect(kept.content.toString()).not.toContain("secret");
      left.forget(`s${turn}`);
    }
  } finally {
    isOver = true;
    await swapping;
  }
  expect((await readdir(join(base, "outside"))).sort()).toEqual(["f", "sub"]);
});

// FILE-14
test("what is kept has no name, and is not in the clear on the disk", async () => {
  await writeFile(join(folder, "plain"), "a secret of the former holder");
  await keep("s");
  expect(await readdir(dataDir, { recursive: true })).toEqual([]);
  const open = execFileSync("sh", ["-c", `cat $(find /proc/${process.pid}/fd -lname '${dataDir}/*deleted*')`]);
  expect(open.length).toBeGreaterThan(100);
  expect(open.includes("secret")).toBe(false);
});

// FILE-15
test("a session with too much, or a file with a hole larger than the disk, is not kept", async () => {
  left = make(1000);
  await writeFile(join(folder, "large"), Buffer.alloc(2000));
  expect(await keep("large")).toEqual({ lost: "too_large" });
  await writeFile(join(folder, "hole"), "");
  await truncate(join(folder, "hole"), 10 * 1024 ** 4);
  expect(await keep("hole")).toEqual({ lost: "too_large" });
  await rm(join(folder, "hole"));
  await writeFile(join(folder, "small"), "small");
  expect(textOf(await keep("small"), "small")).toBe("small");
});

// FILE-15
test("the oldest session makes room, by bytes and by number, and nothing of it is kept", async () => {
  left = make(2000);
  const leave = async (session: string, bytes: number) => {
    await writeFile(join(folder, "file"), Buffer.alloc(bytes));
    return keep(session);
  };
  await leave("first", 900);
  await leave("second", 500);
  expect(await read("first")).toBeDefined();
  await leave("third", 900);
  expect([await read("first"), (await read("third")) !== undefined]).toEqual([undefined, true]);
  for (const session of ["a", "b", "c", "d", "e"]) await leave(session, 1);
  expect([await read("third"), (await read("e")) !== undefined]).toEqual([undefined, true]);
});

test("a session without a file, and one whose files are not to be kept, leave nothing", async () => {
  await mkdir(join(folder, "downloads"));
  expect(await keep("none")).toEqual({ none: true });
  await left.end();
  expect(left.read("other")).toBeUndefined();
});

test.skipIf(process.getuid?.() === 0)("a folder that can't be read is listed without what is in it", async () => {
  await mkdir(join(folder, "closed"));
  await writeFile(join(folder, "closed", "in"), "in");
  await writeFile(join(folder, "open"), "open");
  await chmod(join(folder, "closed"), 0);
  const kept = await keep("s");
  expect(namesIn(kept.index)).toEqual(["closed", "open"]);
  const closed: Partial<FileInfo> | undefined = kept.index.entry(["closed"]);
  expect([closed?.mode, kept.content.toString()]).toEqual(["d---------", "open"]);
});

test("its own agent waits at its end for the API, and no longer than it may", async () => {
  await writeFile(join(folder, "plain"), "plain");
  await keep("s");
  const reader = left.read("s")?.(signal)[Symbol.asyncIterator]();
  await reader?.next();
  let isSettled = false;
  const settled = left.settled(60_000).then(() => {
    isSettled = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(isSettled).toBe(false);
  left.forget("s");
  await settled;
  await keep("t");
  await left.settled(60_000);
  expect(await read("t")).toBeUndefined();
});

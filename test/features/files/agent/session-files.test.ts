/** What the calls on a session's files do in a folder to which others write, too. */
import { execFileSync } from "node:child_process";
import { appendFile, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type HeldFiles, holdFiles } from "./held-files.ts";

let held: HeldFiles;
beforeEach(async () => {
  await held?.[Symbol.asyncDispose]();
  held = await holdFiles();
  await writeFile(join(held.outside, "secret"), "secret");
  await mkdir(join(held.outside, "folder"));
});
afterAll(() => held?.[Symbol.asyncDispose]());

const at = (...names: string[]): string => join(held.folder, ...names);
const write = (path: string, bytes = "x"): Promise<unknown> =>
  held.call("write_file", { query: { path }, bytes: Buffer.from(bytes) });
const outsideNow = async (): Promise<string[]> => (await readdir(held.outside, { recursive: true })).sort();

describe("a link", () => {
  beforeEach(async () => {
    await symlink(join(held.outside, "secret"), at("to-file"));
    await symlink(join(held.outside, "folder"), at("to-folder"));
    await symlink(held.outside, at("to-outside"));
    await symlink("loop", at("loop"));
    await symlink("/proc/self", at("proc"));
  });

  // FILE-3
  test.each([
    ["read_file", { query: { path: "/tmp/to-file" } }],
    ["read_file", { query: { path: "/tmp/to-outside/secret" } }],
    ["read_file", { query: { path: "/tmp/proc/environ" } }],
    ["read_file", { query: { path: "/tmp/loop" } }],
    ["list_files", { query: { path: "/tmp/to-folder" } }],
    ["list_files", { query: { path: "/tmp/to-outside/folder" } }],
    ["file_info", { query: { path: "/tmp/to-outside/secret" } }],
    ["download_dir_zip", { query: { path: "/tmp/to-outside" } }],
    ["write_file", { query: { path: "/tmp/to-outside/secret" } }],
    ["write_file", { query: { path: "/tmp/to-folder/new" } }],
    ["create_directory", { body: { path: "/tmp/to-folder/new" } }],
    ["delete_file", { body: { path: "/tmp/to-outside/secret" } }],
    ["delete_directory", { body: { path: "/tmp/to-outside" } }],
    ["delete_directory", { body: { path: "/tmp/to-outside/folder" } }],
    ["set_file_permissions", { body: { path: "/tmp/to-file", mode: "777" } }],
    ["move", { body: { src_path: "/tmp/to-outside/secret", dest_path: "/tmp/mine" } }],
    ["move", { body: { src_path: "/tmp/loop", dest_path: "/tmp/to-folder/theirs" } }],
    ["watch", { body: { path: "/tmp/to-outside" } }],
  ])("leads nowhere: %s %j", async (name, asked) => {
    await expect(held.call(name, asked)).rejects.toMatchObject({ code: "bad_request" });
    expect(await outsideNow()).toEqual(["folder", "secret"]);
    expect((await lstat(join(held.outside, "secret"))).mode & 0o777).toBe(0o644);
  });

  // FILE-3
  test("is listed and described as what it is, and deleted, moved and replaced itself", async () => {
    expect(await held.call("file_info", { query: { path: "/tmp/to-file" } })).toMatchObject({
      mode: "lrwxrwxrwx",
      is_dir: false,
    });
    await held.call("delete_file", { body: { path: "/tmp/to-folder" } });
    await held.call("move", { body: { src_path: "/tmp/loop", dest_path: "/tmp/moved" } });
    await write("/tmp/to-file", "mine");
    expect(await readFile(at("to-file"), "utf8")).toBe("mine");
    expect(await readFile(join(held.outside, "secret"), "utf8")).toBe("secret");
    const listed = (await held.call("list_files", { query: { path: "/tmp" } })) as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(["moved", "proc", "to-file", "to-outside"]);
  });

  // FILE-3
  test("is left out of a zip, and its folder is deleted without what it leads to", async () => {
    await mkdir(at("own"));
    await symlink(held.outside, at("own", "out"));
    await writeFile(at("own", "file"), "x");
    const zip = String(await held.call("download_dir_zip", { query: { path: "/tmp/own" } }));
    expect(zip).toContain("file");
    expect(zip).not.toContain("secret");
    await held.call("delete_directory", { body: { path: "/tmp/own" } });
    expect(await readdir(held.folder)).not.toContain("own");
    expect(await outsideNow()).toEqual(["folder", "secret"]);
  });

  // FILE-3
  test("that takes a folder's place again and again gets no byte out and none in", async () => {
    await mkdir(at("real"));
    let isOver = false;
    const swap = async (): Promise<void> => {
      await mkdir(at("dir"), { recursive: true });
      while (!isOver) {
        await rename(at("dir"), at("aside")).catch(() => undefined);
        await symlink(held.outside, at("dir")).catch(() => undefined);
        await rm(at("dir"), { force: true }).catch(() => undefined);
        await rename(at("aside"), at("dir")).catch(() => undefined);
      }
    };
    const swapping = swap();
    const read: string[] = [];
    for (let round = 0; round < 300; round += 1) {
      await write("/tmp/dir/mine").catch(() => undefined);
      await held.call("delete_file", { body: { path: "/tmp/dir/secret" } }).catch(() => undefined);
      await held.call("read_file", { query: { path: "/tmp/dir/secret" } }).then(
        (bytes) => read.push(String(bytes)),
        () => undefined,
      );
    }
    isOver = true;
    await swapping;
    expect(read).toEqual([]);
    expect(await outsideNow()).toEqual(["folder", "secret"]);
  });
});

describe("a file", () => {
  // FILE-4
  test("is replaced whole, or stays as it was", async () => {
    await write("/tmp/a/b", "before");
    const broken = new PassThrough();
    broken.write("half");
    setTimeout(() => broken.destroy(), 20);
    await expect(held.call("write_file", { query: { path: "/tmp/a/b" }, bytes: broken })).rejects.toThrow("hung up");
    expect(await readFile(at("a", "b"), "utf8")).toBe("before");
    expect(await readdir(at("a"))).toEqual(["b"]);
    await write("/tmp/a/b", "after");
    expect(String(await held.call("read_file", { query: { path: "/tmp/a/b" } }))).toBe("after");
  });

  // FILE-4
  test("that grows while it is read is sent as long as it was at the begin", async () => {
    await write("/tmp/log", "x".repeat(900));
    const handler = held.files.handlers.find(({ contract }) => contract.name === "fs/read_file");
    const answer = await handler?.handle({ query: { path: "/tmp/log" } } as never);
    await appendFile(at("log"), "more");
    const { bytes, length } = answer as { bytes: AsyncIterable<Buffer>; length: number };
    let read = 0;
    for await (const chunk of bytes) read += chunk.length;
    expect([length, read]).toEqual([900, 900]);
  });

  // FILE-3
  test.each([
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["a folder", (path: string) => mkdir(path)],
  ])("is not %s, which is refused at once", async (_what, make) => {
    await make(at("thing"));
    await expect(held.call("read_file", { query: { path: "/tmp/thing" } })).rejects.toMatchObject({
      code: "bad_request",
      message: "/tmp/thing is no plain file",
    });
  });

  // FILE-6
  test("above the bounds of a session is refused, and leaves nothing; room comes back with what is deleted", async () => {
    await write("/tmp/one", "x".repeat(600));
    await expect(write("/tmp/two", "x".repeat(600))).rejects.toMatchObject({
      code: "disk_full",
      message: "the session would have more than 1000 bytes; delete some of its files",
    });
    expect(await readdir(held.folder)).toEqual(["one"]);
    await held.call("delete_file", { body: { path: "/tmp/one" } });
    await write("/tmp/two", "x".repeat(600));
    for (let file = 0; file < 19; file += 1) await write(`/tmp/${file}`, "");
    await expect(write("/tmp/further", "")).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("20 files"),
    });
  });

  // FILE-6
  test("counts what pages have downloaded", async () => {
    await writeFile(at("download"), "x".repeat(900));
    await expect(write("/tmp/mine", "x".repeat(200))).rejects.toMatchObject({ code: "disk_full" });
  });
});

/** A form as the public clients send it. */
const formOf = (parts: [name: string, value: string, file?: string][]): { bytes: Buffer; type: string } => {
  const lines = parts.map(([name, value, file]) => {
    const named = `Content-Disposition: form-data; name="${name}"${file ? `; filename="${file}"` : ""}`;
    return `--b\r\n${named}\r\n\r\n${value}\r\n`;
  });
  return { bytes: Buffer.from(`${lines.join("")}--b--\r\n`), type: "multipart/form-data; boundary=b" };
};

// FILE-1
test("a zip of a folder takes files whose names no zip has", async () => {
  await mkdir(at("odd"));
  for (const name of ["..\\up", "C:drive", "plain"]) await writeFile(at("odd", name), name);
  const zip = String(await held.call("download_dir_zip", { query: { path: "/tmp/odd" } }));
  for (const name of [".._up", "C_drive", "plain"]) expect(zip).toContain(name);
});

describe("a form", () => {
  // FILE-5
  test.each([
    [
      "numbered",
      [
        ["files[1][dest_path]", "/tmp/two"],
        ["files[0][dest_path]", "/tmp/one"],
        ["files[0][file]", "1", "a"],
        ["files[1][file]", "2", "b"],
      ],
    ],
    [
      "in order",
      [
        ["files[][dest_path]", "/tmp/one"],
        ["files[][file]", "1", "a"],
        ["files[][dest_path]", "/tmp/two"],
        ["files[][file]", "2", "b"],
      ],
    ],
  ] as [string, [string, string, string?][]][])("puts each file at its path: %s", async (_how, parts) => {
    await held.call("upload", formOf(parts));
    expect([await readFile(at("one"), "utf8"), await readFile(at("two"), "utf8")]).toEqual(["1", "2"]);
  });

  // FILE-2, FILE-5
  test.each<[string, [string, string, string?][], RegExp]>([
    ["no file", [["files[0][dest_path]", "/tmp/a"]], /^files: the form has none/],
    [
      "a file before its path",
      [
        ["files[0][file]", "1", "a"],
        ["files[0][dest_path]", "/tmp/a"],
      ],
      /after its path/,
    ],
    [
      "a path that leads out",
      [
        ["files[0][dest_path]", "/etc/a"],
        ["files[0][file]", "1", "a"],
      ],
      /dest_path: must be/,
    ],
    [
      "another name",
      [
        ["dest_path", "/tmp/a"],
        ["file", "1", "a"],
      ],
      /after its path/,
    ],
  ])("with %s is refused", async (_what, parts, why) => {
    await expect(held.call("upload", formOf(parts))).rejects.toMatchObject({ code: "bad_request", message: why });
    expect(await readdir(held.folder)).toEqual([]);
  });

  // FILE-5
  test.each([
    [
      "cut",
      formOf([
        ["files[0][dest_path]", "/tmp/a"],
        ["files[0][file]", "1", "a"],
      ]).bytes.subarray(0, 100),
    ],
    ["that is none", Buffer.from("hello")],
  ])("%s is refused", async (_what, bytes) => {
    await expect(held.call("upload", { bytes, type: "multipart/form-data; boundary=b" })).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(await readdir(held.folder)).toEqual([]);
  });
});

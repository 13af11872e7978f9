import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cutLog, readLogTail, startLog } from "../../../src/platform/process/log-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-log-"));
  path = join(folder, "logs/program.log");
  await startLog(path);
});
afterEach(() => rm(folder, { recursive: true }));

test("a log that is too long keeps its end, and a program that has it open continues after that", async () => {
  const program = await open(path, "a");
  await program.write(`${"x".repeat(5 * 1024 * 1024)}\nlast line\n`);
  await cutLog(path);
  expect((await stat(path)).size).toBe(512 * 1024);
  await program.write("next line\n");
  await program.close();
  expect(await readFile(path, "utf8")).toMatch(/^x+\nlast line\nnext line\n$/);
});

test("a short log is left alone", async () => {
  const text = "x".repeat(1024 * 1024);
  const program = await open(path, "a");
  await program.write(text);
  await cutLog(path);
  await program.close();
  expect(await readFile(path, "utf8")).toBe(text);
});

test("the tail of a missing log is empty", async () => {
  expect(await readLogTail(join(folder, "missing"))).toBe("");
});

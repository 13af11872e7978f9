import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { grownLines } from "./grown-lines.ts";

test("each line is given once, when it is whole", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bp-lines-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "log");
  const grown = grownLines(file);
  expect(await grown()).toEqual([]);
  await appendFile(file, "one\ntwö\nthr");
  expect(await grown()).toEqual(["one", "twö"]);
  expect(await grown()).toEqual([]);
  await appendFile(file, "ee\n");
  expect(await grown()).toEqual(["three"]);
});

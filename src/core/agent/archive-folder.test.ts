import { createSecretKey, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createArchiveFolder } from "./archive-folder.ts";

test("a folder of archives is made in a folder that is not there yet, as in a new pod", async () => {
  const root = await mkdtemp(join(tmpdir(), "bp-archives-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await createArchiveFolder(join(root, "data", "archives"), createSecretKey(randomBytes(32)));
  expect(await readdir(join(root, "data"))).toEqual(["archives"]);
});

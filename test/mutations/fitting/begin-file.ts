/** Set-up of each test file while coverage is measured: what runs from now on runs for this file. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect } from "vitest";

const tree = resolve(import.meta.dirname, "../../..");
const folder = join(tree, ".browserpool/hits");

mkdirSync(folder, { recursive: true });
const { testPath = "" } = expect.getState();
writeFileSync(join(folder, "current"), encodeURIComponent(relative(tree, testPath)));

/** Runs the examples of docs/extensions.md in order, in one shell. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findOnPath } from "../../../src/local/locate-programs.mjs";
import { docExamples } from "../../support/doc-examples.ts";
import { startVaultParts } from "../vaults/vault-parts.ts";

// The page uses Info-ZIP's program, which nothing else needs.
test.skipIf(!findOnPath("zip", process.env))("the examples of docs/extensions.md work as the page says", async () => {
  await using parts = await startVaultParts();
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "extension-docs-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const examples = docExamples("extensions.md", "sh");
  expect(examples).toHaveLength(2);
  const { stdout, stderr } = await promisify(execFile)(
    "bash",
    ["--norc", "-euo", "pipefail", "-c", examples.join("\n")],
    {
      cwd: folder,
      env: { ...process.env, KERNEL_BASE_URL: parts.client().baseURL, KERNEL_API_KEY: parts.apiKey },
    },
  );
  expect(stderr).toBe("");
  const made = await parts.client().extensions.get("docs-helper");
  expect(stdout).toContain(made.checksum);
  expect(stdout).toContain(`"extension_ids":["${made.id}"]`);
});

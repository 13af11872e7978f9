/** Runs the examples of docs/extensions.md in order, in one shell. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOnPath } from "../../../src/local/locate-programs.mjs";
import { docExamples } from "../../support/doc-examples.ts";
import { type LocalProject, startProject } from "../../support/stack.ts";

let service: LocalProject;
beforeAll(async () => {
  service = await startProject();
});
afterAll(() => service?.[Symbol.asyncDispose]());

// The page uses Info-ZIP's program, which nothing else needs.
test.skipIf(!findOnPath("zip", process.env))("the examples of docs/extensions.md work as the page says", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "extension-docs-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const examples = docExamples("extensions.md", "sh");
  expect(examples).toHaveLength(3);
  const { stdout, stderr } = await promisify(execFile)(
    "bash",
    ["--norc", "-euo", "pipefail", "-c", examples.join("\n")],
    {
      cwd: folder,
      env: { ...process.env, KERNEL_BASE_URL: service.url, KERNEL_API_KEY: service.api_key },
    },
  );
  expect(stderr).toBe("");
  const made = await service.kernel.extensions.get("docs-helper");
  expect(stdout).toContain(made.checksum);
  // Of what is not 2xx, curl prints the error.
  expect(stdout).not.toContain('"code"');
  expect(stdout).toContain(`"extension_ids":["${made.id}"]`);
});

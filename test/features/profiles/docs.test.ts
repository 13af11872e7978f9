/** Runs the examples of docs/profiles.md in order, in one shell. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { docExamples } from "../../support/doc-examples.ts";
import { openShell } from "../vaults/kubectl.ts";
import { startVaultParts } from "../vaults/vault-parts.ts";

const root = join(import.meta.dirname, "../../..");

test("the examples of docs/profiles.md work as the page says", async () => {
  await using parts = await startVaultParts();
  await using shell = await openShell(parts.namespace);
  const examples = docExamples("profiles.md", "sh");
  expect(examples).toHaveLength(3);
  const script = examples.join("\necho; echo @@\n");
  const { code, out, err } = await shell.sh(`cd ${root}\n${script}`, {
    KERNEL_BASE_URL: parts.client().baseURL,
    KERNEL_API_KEY: parts.apiKey,
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [made = "", changed = "", yaml = ""] = out.split("@@");
  expect(made).toMatch(/"profile_id":"[a-z][a-z0-9]{23}"/);
  expect(made).toContain('"name":"docs-work"');
  expect(changed).toContain('"name":"docs-home"');
  expect(made + changed).not.toContain('"code":');
  expect(yaml).toContain("profile.browserpool.dev/work condition met");
});

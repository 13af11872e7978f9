/** Runs the examples of docs/vault.md in order, in one shell. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSecretsKeys } from "../../../src/platform/secrets/sealing.ts";
import { docExamples } from "../../support/doc-examples.ts";
import { openShell } from "./kubectl.ts";
import { startVaultParts } from "./vault-parts.ts";

const root = join(import.meta.dirname, "../../..");

test("the examples of docs/vault.md work as the page says", async () => {
  await using parts = await startVaultParts();
  await using shell = await openShell(parts.namespace);
  const examples = docExamples("vault.md", "sh");
  expect(examples).toHaveLength(6);
  const script = [...examples, 'echo "KEYS=$KEYS"'].join("\necho; echo @@\n");
  const { code, out, err } = await shell.sh(`cd ${root}\n${script}`, {
    KERNEL_BASE_URL: parts.client().baseURL,
    KERNEL_API_KEY: parts.apiKey,
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [made = "", read = "", login = "", key = "", yaml = "", keys = ""] = out.split("@@");
  expect(made).toContain('"value_keys":["password","username"]');
  expect(made).toContain('"status":"ready","fields":{"password":{"type":"password"},"username":{"type":"text"},"totp"');
  expect(made + read).not.toContain("s3cret");
  for (const part of ['"key":"shop"', '"type":"created"', /"code":"\d{6}"/, '"has_values":true'])
    expect(read).toMatch(part);
  expect(login).toMatch(/"hosted_url":"http[^"]+#[\w-]{43,}"/);
  expect(key).toContain('"alg":"ECDH-ES","enc":"A256GCM"');
  expect(yaml).toContain("vaultitem.browserpool.dev/team-shop condition met");
  const file = /KEYS=(.*)/.exec(keys + out.split("@@").at(-1))?.[1] ?? "";
  expect(readSecretsKeys(file)).toHaveLength(1);
});

/** Runs the examples of docs/telemetry-destinations.md in order, in one shell. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { docExamples } from "../../support/doc-examples.ts";
import { openShell } from "../vaults/kubectl.ts";
import { startVaultParts } from "../vaults/vault-parts.ts";

const root = join(import.meta.dirname, "../../..");

test("the examples of docs/telemetry-destinations.md work as the page says", async () => {
  await using parts = await startVaultParts();
  await using shell = await openShell(parts.namespace);
  const examples = docExamples("telemetry-destinations.md", "sh");
  expect(examples).toHaveLength(3);
  // No operator of pools runs here.
  const script = examples.join("\necho; echo @@\n").replace("td/backend bp/observed", "td/backend");
  const { code, out, err } = await shell.sh(`cd ${root}\n${script}`, {
    KERNEL_BASE_URL: parts.client().baseURL,
    KERNEL_API_KEY: parts.apiKey,
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [made = "", more = "", yaml = ""] = out.split("@@");
  expect(made).toContain('"headers":{"Authorization":""}');
  expect(made).toContain('"destination":"docs-backend"');
  expect(more).toContain('"headers":{"Authorization":"","X-Team":""}');
  expect(more).toMatch(
    /"conflict","message":"the telemetry destination docs-backend is in use by the browser pool docs-obs/,
  );
  expect(yaml).toContain("telemetrydestination.browserpool.dev/backend condition met");
  expect(out).not.toMatch(/s3cret|r0tated/);
});

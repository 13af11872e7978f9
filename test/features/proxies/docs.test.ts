/** Runs the examples of docs/proxies.md in order, in one shell. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readProxyProvider } from "../../../src/cmd/read-proxy-provider.ts";
import { docExamples } from "../../support/doc-examples.ts";
import { testCertificates } from "../../support/test-certificates.ts";
import { openShell } from "../vaults/kubectl.ts";
import { startVaultParts } from "../vaults/vault-parts.ts";

const root = join(import.meta.dirname, "../../..");

test("the examples of docs/proxies.md work as the page says", async () => {
  await using parts = await startVaultParts({ settings: { BROWSERPOOL_BROWSER_FEATURES: "network" } });
  await using shell = await openShell(parts.namespace);
  const examples = docExamples("proxies.md", "sh");
  expect(examples).toHaveLength(3);
  // No operator of pools runs here.
  const script = examples.join("\necho; echo @@\n").replace("px/office bp/routed", "px/office");
  const { code, out, err } = await shell.sh(`cd ${root}\n${script}`, {
    KERNEL_BASE_URL: parts.client().baseURL,
    KERNEL_API_KEY: parts.apiKey,
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [made = "", more = "", yaml = ""] = out.split("@@");
  expect(made).toContain('"has_password":true,"has_ca_bundle":false');
  expect(made).toMatch(/"browser_pool_config":.*"proxy_id":"[a-z0-9]{24}"/);
  expect(more).toContain('"name":"docs branch"');
  expect(more).toMatch(/"code":"conflict","message":"the proxy docs branch is in use by the browser pool docs-routed/);
  expect(yaml).toContain("proxy.browserpool.dev/office condition met");
  expect(made + more).not.toContain("s3cret");
});

// PROXY-13
test("the provider of docs/proxies.md can be read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-provider-"));
  try {
    await writeFile(join(folder, "provider.yaml"), docExamples("proxies.md", "yaml")[0] ?? "");
    await writeFile(join(folder, "password"), "s3cret\n");
    await writeFile(join(folder, "ca.pem"), testCertificates().authority);
    const settings = { proxyProviderFile: join(folder, "provider.yaml"), browserFeatures: [] };
    const { reachesLoopback, ...provider } = readProxyProvider(settings);
    expect(reachesLoopback).toBe(false);
    expect(Object.keys(provider).sort()).toEqual(["isp", "residential"]);
    expect(provider.residential?.password?.reveal()).toBe("s3cret");
    expect(provider.isp?.caBundle).toContain("CERTIFICATE");
    expect(JSON.stringify(provider)).not.toContain("s3cret");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  ["residential: {host: a}", "residential.port"],
  ["residential: {host: a, port: 1, passwordFile: none}", "none"],
  ["a: 1", "Unrecognized"],
  ["x: [", "provider.yaml"],
])("a provider's file with %s ends the start, and is named", async (text, message) => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-provider-"));
  try {
    await writeFile(join(folder, "provider.yaml"), text);
    expect(() => readProxyProvider({ proxyProviderFile: join(folder, "provider.yaml"), browserFeatures: [] })).toThrow(
      message,
    );
    expect(() => readProxyProvider({ proxyProviderFile: join(folder, "provider.yaml"), browserFeatures: [] })).toThrow(
      folder,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Credential providers of the type vault, with a real HashiCorp Vault and policies that it decides. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchConnection } from "../../../../src/features/vaults/connections/connections.ts";
import { createProviderLookups } from "../../../../src/features/vaults/providers/lookups.ts";
import { fetchProviders } from "../../../../src/features/vaults/providers/provider-secret.ts";
import { secrets } from "../../../../src/platform/kube/resource-type.ts";
import { fresh, startVaultParts, type VaultParts } from "../vault-parts.ts";
import { type RealVault, startRealVault, teamPolicy, vaultServer } from "./real-vault.ts";

const program = await vaultServer();

let vault: RealVault;
let parts: VaultParts;
let token: string;
beforeAll(async () => {
  if (!program) return;
  vault = await startRealVault(program);
  token = await vault.token(teamPolicy);
  parts = await startVaultParts({
    encrypted: true,
    settings: { BROWSERPOOL_CREDENTIAL_PROVIDER_ADDRESSES: `${vault.address},https://127.0.0.2:1` },
  });
});
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]();
  await vault?.[Symbol.asyncDispose]();
});

const path = "/org/credential_providers";
const password = "pw-9Kd4-canary";
const urls = "https://shop.example/login";
// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
type Body = any;

const post = (more: object = {}) =>
  parts.call("POST", path, {
    ...{ name: fresh("vault"), provider_type: "vault", address: vault.address, path_prefix: "team", token },
    ...more,
  });

const make = async (more?: object): Promise<Body> => {
  const { status, body } = await post(more);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

const remove = (id: string) => parts.call("DELETE", `${path}/${id}`);
const itemsOf = async (id: string): Promise<Body> => (await parts.call("GET", `${path}/${id}/items`)).body;
const testOf = async (id: string): Promise<Body> => (await parts.call("POST", `${path}/${id}/test`)).body;

/** What a login would type by this choice of a credential; or why it has nothing. */
const opened = async (credential: object, domain = "shop.example"): Promise<Body> => {
  const request = { domain, profile_name: fresh("profile"), credential };
  const { status, body } = await parts.call("POST", "/auth/connections", request);
  expect(status, JSON.stringify(body)).toBe(201);
  const project = parts.services.projects.find(parts.projectId);
  if (!project) throw new Error("no such project");
  const connection = await fetchConnection(body.id, project, parts.services);
  try {
    const { login, allowedOrigins } = await parts.services.providerLookups.open(connection, project);
    const values = Object.fromEntries([...login.values].map(([name, value]) => [name, value.reveal()]));
    return { values, totp: login.totpSecret?.reveal(), allowedOrigins };
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe.skipIf(!program)("a provider of the type vault", () => {
  // PROVIDER-1, PROVIDER-15
  test("is stored, changed and deleted, and its token is seen nowhere", async () => {
    const made = await make();
    expect(made).toEqual({
      ...{ id: made.id, name: made.name, provider_type: "vault", enabled: true, priority: made.priority },
      ...{ address: vault.address, namespace: "", mount: "secret", path_prefix: "team", cache_ttl_seconds: 300 },
      ...{ projects: null, created_at: made.created_at, updated_at: made.created_at },
    });
    const change = (fields: object) => parts.call("PATCH", `${path}/${made.id}`, fields);
    expect((await change({ path_prefix: "", mount: "kv/more" })).body).toMatchObject({
      path_prefix: "",
      mount: "kv/more",
    });
    const elsewhere = { address: "https://127.0.0.2:1" };
    // The stored token goes to no other address.
    expect(await change(elsewhere)).toMatchObject({ status: 400, body: { details: [{ path: "token" }] } });
    expect((await change({ ...elsewhere, token: "t" })).body).toMatchObject(elsewhere);
    for (const address of [
      "https://vault.example",
      `${vault.address}.evil.example`,
      vault.address.replace("s:", ":"),
    ]) {
      const refused = await change({ address, token: "t" });
      expect(refused).toMatchObject({
        status: 400,
        body: { code: "not_supported_here", details: [{ path: "address" }] },
      });
    }
    expect(await change({ label_selector: "a=b" })).toMatchObject({ status: 400, body: { code: "bad_request" } });
    const { items } = await parts.kube.list(secrets, { namespace: parts.services.config.systemNamespace });
    const stored = JSON.stringify(
      items.map(({ data = {} }) => Object.values(data).map((one) => Buffer.from(one, "base64").toString())),
    );
    expect(stored).toContain("127.0.0.2");
    for (const text of [stored, await parts.logged()]) expect(text).not.toContain(token);
    expect((await remove(made.id)).status).toBe(204);
  });

  // PROVIDER-13
  test("has the entries with addresses below its prefix as items, without values", async () => {
    await vault.put("team/shop", { username: "ann", password }, { urls, title: "The shop" });
    await vault.put("team/deep/er/bank å", { password }, { urls: "https://bank.example, ftp://x" });
    await vault.put("team/no-address", { password });
    await vault.put("team/gone", { password }, { urls });
    await vault.call("DELETE", "secret/data/team/gone");
    await vault.put("team/destroyed", { password }, { urls });
    await vault.call("PUT", "secret/destroy/team/destroyed", { versions: [1] });
    await vault.put("others/x", { password }, { urls });
    const { id } = await make();
    expect(await testOf(id)).toEqual({ success: true, vaults: [{ id: "secret", name: "secret" }] });
    const { items } = await itemsOf(id);
    const of = { vault_id: "secret", vault_name: "secret" };
    expect(items.toSorted((a: Body, b: Body) => (a.path < b.path ? 1 : -1))).toEqual([
      { ...of, id: "secret/team/shop", path: "secret/team/shop", title: "The shop", urls: [urls] },
      {
        ...of,
        id: "secret/team/deep/er/bank å",
        path: "secret/team/deep/er/bank å",
        title: "bank å",
        urls: ["https://bank.example"],
      },
    ]);
    expect(JSON.stringify(items)).not.toContain(password);
    await remove(id);
  });

  // PROVIDER-6, PROVIDER-13, PROVIDER-14
  test("gives a login its values as they are now, and the origins of its addresses", async () => {
    const { id, name } = await make();
    const credential = { provider: name, path: "secret/team/now" };
    const seed = "otpauth://totp/shop:ann?secret=GEZDGNBVGY3TQOJQ&issuer=shop";
    await vault.put("team/now", { username: "ann", password, totp: seed }, { urls });
    const allowedOrigins = ["https://shop.example"];
    expect(await opened(credential)).toEqual({
      ...{ values: { username: "ann", password }, totp: "GEZDGNBVGY3TQOJQ", allowedOrigins },
    });
    await vault.put("team/now", { password: "changed" }, { urls: "https://other.example" });
    expect(await opened(credential)).toMatchObject({
      ...{ values: { password: "changed" }, allowedOrigins: ["https://other.example"] },
    });
    await vault.call("DELETE", "secret/data/team/now");
    expect(await opened(credential)).toBe("external_credential_not_found");
    await vault.put("team/deep/er/by-domain", { password: "d" }, { urls: "https://login.domain.example" });
    expect(await opened({ provider: name, auto: true }, "domain.example")).toMatchObject({ values: { password: "d" } });
    await remove(id);
  });

  // PROVIDER-15
  test("is asked no more when its address leaves the configuration", async () => {
    await vault.put("team/shop", { password }, { urls });
    const { id, name } = await make();
    expect(await opened({ provider: name, path: "secret/team/shop" })).toMatchObject({ values: { password } });
    const { services } = parts;
    const config = { ...services.config, credentialProviderAddresses: [`${vault.address}0`] };
    const provider = (await fetchProviders(services)).find((one) => one.id === id);
    if (!provider) throw new Error("no such provider");
    await expect(createProviderLookups({ ...services, config }).items(provider)).rejects.toMatchObject({
      ...{ code: "credential_provider_refused", message: expect.stringContaining("credentialProviders.addresses") },
    });
    await remove(id);
  });

  // PROVIDER-10
  test("has no path of another prefix or mount, whatever its token may read", async () => {
    const all = await vault.token('path "secret/*" { capabilities = ["list", "read"] }');
    const { id, name } = await make({ token: all });
    await vault.put("teammate/x", { password }, { urls });
    await vault.put("outside", { password }, { urls });
    for (const bad of [
      ...[
        "secret/outside",
        "secret/teammate/x",
        "secret/team/../outside",
        "secret/team/%2e%2e/outside",
        "other/team/x",
      ],
      ...["secret/team/", "secret/team//x", "team/x", "secret/team/x?version=1", "sys/team/x"],
    ])
      expect([bad, await opened({ provider: name, path: bad })]).toEqual([bad, "external_credential_not_found"]);
    await parts.call("PATCH", `${path}/${id}`, { path_prefix: "" });
    expect(await opened({ provider: name, path: "secret/outside" })).toMatchObject({ values: { password } });
    await remove(id);
  });

  // PROVIDER-7
  test("refuses an entry that cannot be typed whole", async () => {
    const { id, name } = await make();
    const bad = {
      number: { pin: 5 },
      lines: { password: "a\nb" },
      nested: { a: { b: "c" } },
      empty: {},
      seed: { totp: "GEZDGNBVGY3TQOJQ" },
    };
    for (const [entry, data] of Object.entries(bad)) {
      await vault.put(`team/bad-${entry}`, data, { urls });
      const was = await opened({ provider: name, path: `secret/team/bad-${entry}` });
      expect([entry, was]).toEqual([entry, "external_credential_unusable"]);
    }
    await remove(id);
  });

  // PROVIDER-16
  test("says what is wrong: the token, the mount, the seal, the certificate", async () => {
    await vault.put("team/shop", { password }, { urls });
    const { id, name } = await make();
    const credential = { provider: name, path: "secret/team/shop" };
    const change = (fields: object) => parts.call("PATCH", `${path}/${id}`, fields);
    const says = async (words: string, code: string, status: number) => {
      const tested = await testOf(id);
      expect(tested).toEqual({ success: false, vaults: [], error: expect.stringContaining(words) });
      expect(JSON.stringify(tested)).not.toContain(token);
      const listed = await parts.call("GET", `${path}/${id}/items`);
      expect(listed).toMatchObject({ status, body: { message: expect.stringContaining(`${name}: `) } });
      expect(listed.body.message).toContain(words);
      expect(await opened(credential)).toBe(code);
    };
    await vault.call("POST", "sys/mounts/old", { type: "kv", options: { version: "1" } });
    await change({ token: await vault.token('path "old/*" { capabilities = ["list", "read"] }'), mount: "old" });
    expect((await testOf(id)).error).toContain("no key-value store of version 2");
    await change({ mount: "none" });
    expect((await testOf(id)).error).toContain("403");
    await change({ mount: "secret" });
    await says("403", "credential_provider_refused", 409);
    await change({ token: "hvs.not-one-of-it" });
    await says("403", "credential_provider_refused", 409);
    await change({ token });
    expect(await opened(credential)).toMatchObject({ values: { password } });
    await vault.seal();
    await says("sealed", "credential_provider_unavailable", 503);
    await vault.unseal();
    await change({ cache_ttl_seconds: 0 });
    expect(await testOf(id)).toMatchObject({ success: true });
    vault.trust(false);
    await says("NODE_EXTRA_CA_CERTS", "credential_provider_refused", 409);
    vault.trust(true);
    expect(await opened(credential)).toMatchObject({ values: { password } });
    await remove(id);
  });

  // PROVIDER-17
  test("lists hundreds of entries, and fails for more than it looks at", async () => {
    const all = await vault.token('path "secret/*" { capabilities = ["list", "read"] }');
    const { id } = await make({ token: all, path_prefix: "many" });
    const fill = async (from: number, to: number) => {
      for (let at = from; at < to; at += 20)
        await Promise.all(
          Array.from({ length: 20 }, (_, n) => vault.put(`many/${at % 7}/e${at + n}`, { password }, { urls })),
        );
    };
    await fill(0, 600);
    expect((await itemsOf(id)).items).toHaveLength(600);
    await fill(600, 2000);
    await parts.call("PATCH", `${path}/${id}`, { cache_ttl_seconds: 1 });
    const listed = await parts.call("GET", `${path}/${id}/items`);
    expect(listed).toMatchObject({ status: 503, body: { message: expect.stringContaining("narrow path_prefix") } });
    await remove(id);
  });
});

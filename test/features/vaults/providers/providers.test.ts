/** Credential providers over HTTP, with Secrets of a real API server and accounts whose rights it decides. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { AuthConnection } from "../../../../src/features/vaults/connections/auth-connection.ts";
import { fetchConnection } from "../../../../src/features/vaults/connections/connections.ts";
import { createProviderLookups } from "../../../../src/features/vaults/providers/lookups.ts";
import { fetchProviders } from "../../../../src/features/vaults/providers/provider-secret.ts";
import type { Kube } from "../../../../src/platform/kube/client.ts";
import { createResourceTypes, namespaces, secrets } from "../../../../src/platform/kube/resource-type.ts";
import { sharedServers } from "../../../support/control-plane.ts";
import { docExamples } from "../../../support/doc-examples.ts";
import { eventually } from "../../../support/eventually.ts";
import { fresh, itemOf, startVaultParts, type VaultParts } from "../vault-parts.ts";
import { accountToken, startTeamSecrets, type TeamSecrets } from "./team-secrets.ts";

let parts: VaultParts;
let team: TeamSecrets;
beforeAll(async () => {
  parts = await startVaultParts({ encrypted: true });
  team = await startTeamSecrets(parts.kube, (await sharedServers()).kubeconfigPath);
});
afterAll(async () => {
  await team?.[Symbol.asyncDispose]();
  await parts?.[Symbol.asyncDispose]();
});

const path = "/org/credential_providers";
const password = "pw-7Hq2-canary";

// biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they check
const make = async (more: object = {}): Promise<any> => {
  const { namespace, token } = team;
  const request = { name: fresh("provider"), provider_type: "kubernetes", namespace, token, ...more };
  const { status, body } = await parts.call("POST", path, request);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

const connect = async (credential: object, more: object = {}, project?: string): Promise<AuthConnection> => {
  const request = { domain: "shop.example", profile_name: fresh("profile"), credential, ...more };
  const { status, body } = await parts.call("POST", "/auth/connections", request, project);
  expect(status, JSON.stringify(body)).toBe(201);
  const owner = parts.services.projects.find(project ?? parts.projectId);
  if (!owner) throw new Error("no such project");
  return fetchConnection(body.id, owner, parts.services);
};

/** What a login of a connection would type, as text; or why it has nothing. */
const opened = async (connection: AuthConnection, project = parts.projectId): Promise<unknown> => {
  const owner = parts.services.projects.find(project);
  if (!owner) throw new Error("no such project");
  try {
    const { login, allowedOrigins } = await parts.services.providerLookups.open(connection, owner);
    const values = Object.fromEntries([...login.values].map(([name, value]) => [name, value.reveal()]));
    return { values, totp: login.totpSecret?.reveal(), allowedOrigins };
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("a provider", () => {
  // PROVIDER-1, PROVIDER-2
  test("is stored without its token being seen again, changed, listed and deleted", async () => {
    const name = fresh("provider");
    const made = await make({ name: `  ${name} ` });
    expect(made).toEqual({
      ...{ id: made.id, name, provider_type: "kubernetes", enabled: true, priority: made.priority },
      ...{ cache_ttl_seconds: 300, namespace: team.namespace, label_selector: "", projects: null },
      ...{ created_at: made.created_at, updated_at: made.created_at },
    });
    expect((await parts.call("GET", `${path}/${made.id}`)).body).toEqual(made);
    const again = { name, provider_type: "kubernetes", namespace: team.namespace, token: "t" };
    expect(await parts.call("POST", path, again)).toMatchObject({ status: 409, body: { code: "name_taken" } });
    const other = await make();
    expect(other.priority).toBe(made.priority + 1);
    expect(await parts.call("PATCH", `${path}/${other.id}`, { name })).toMatchObject({ status: 409 });
    const changes = { priority: 0, enabled: false, cache_ttl_seconds: 0, token: "another" };
    const { body: changed } = await parts.call("PATCH", `${path}/${made.id}`, changes);
    expect(changed).toMatchObject({ priority: 0, enabled: false, cache_ttl_seconds: 0, name });
    const listed = await parts.call("GET", `${path}?query=${name.toUpperCase()}`);
    expect(listed.body).toEqual([changed]);
    expect(listed.headers.get("x-has-more")).toBe("false");
    expect((await parts.call("GET", `${path}?limit=1`)).headers.get("x-has-more")).toBe("true");
    const { config } = parts.services;
    const ref = { namespace: config.systemNamespace, name: `credential-provider-${made.id}` };
    const { data } = (await parts.kube.get(secrets, ref)) ?? {};
    expect(Buffer.from(data?.token ?? "", "base64").toString()).toMatch(/^bp-sealed:/);
    for (const { id } of [made, other]) expect((await parts.call("DELETE", `${path}/${id}`)).status).toBe(204);
    expect(await parts.kube.get(secrets, ref)).toBeUndefined();
    expect((await parts.call("GET", `${path}/${made.id}`)).status).toBe(404);
  });

  // PROVIDER-3
  test.each<[object, string, string]>([
    [{ provider_type: "onepassword", namespace: undefined }, "not_supported_here", "provider_type"],
    [{ provider_type: "vault", address: "https://vault.example" }, "not_supported_here", "provider_type"],
    [{ provider_type: "vault" }, "bad_request", "address"],
    [{ provider_type: "vault", address: "https://vault.example/v1" }, "bad_request", "address"],
    [{ address: "https://vault.example" }, "bad_request", "address"],
    [{ path_prefix: "a/../b" }, "bad_request", "path_prefix"],
    [{ namespace: "a/b" }, "bad_request", "namespace"],
    [{ provider_type: "other" }, "bad_request", "provider_type"],
    [{ namespace: undefined }, "bad_request", "namespace"],
    [{ namespace: "Team/x" }, "bad_request", "namespace"],
    [{ name: "   " }, "bad_request", "name"],
    [{ token: "a b" }, "bad_request", "token"],
    [{ token: undefined }, "bad_request", "token"],
    [{ cache_ttl_seconds: 4000 }, "bad_request", "cache_ttl_seconds"],
    [{ projects: ["nobody"] }, "bad_request", "projects[0]"],
    [{ other: 1 }, "bad_request", "other"],
  ])("is refused with %j", async (more, code, field) => {
    const body = { name: fresh("p"), provider_type: "kubernetes", namespace: "team", token: "secret-token", ...more };
    const answer = await parts.call("POST", path, body);
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(field);
    expect(JSON.stringify(answer.body)).not.toContain("secret-token");
  });

  // PROVIDER-1
  test("is of the organization: a key of a project gets 403 for each operation", async () => {
    const { key } = (await parts.call("POST", "/org/api_keys", { name: "p", project_id: parts.projectId })).body;
    const { id } = await make();
    const url = parts.client().baseURL;
    for (const [method, place] of [
      ["GET", path],
      ["POST", path],
      ["GET", `${path}/${id}`],
      ["PATCH", `${path}/${id}`],
      ["DELETE", `${path}/${id}`],
      ["GET", `${path}/${id}/items`],
      ["POST", `${path}/${id}/test`],
    ]) {
      const response = await fetch(url + place, { method: method ?? "", headers: { authorization: `Bearer ${key}` } });
      expect([place, response.status]).toEqual([place, 403]);
    }
  });
});

describe("the items of a provider", () => {
  // PROVIDER-4, PROVIDER-5
  test("are the Secrets with addresses, without values, and the test says whether the token lets in", async () => {
    await team.put("listed", "https://shop.example/login, https://login.shop.example", { password }, { title: "Shop" });
    await team.put("no-address", undefined, { password });
    await team.put("no-url", "shop.example javascript:alert(1)", { password });
    const { id } = await make();
    const answer = await parts.call("GET", `${path}/${id}/items`);
    expect(answer.body.items).toEqual([
      {
        ...{ id: expect.any(String), path: `${team.namespace}/listed`, title: "Shop" },
        ...{ vault_id: team.namespace, vault_name: team.namespace },
        urls: ["https://shop.example/login", "https://login.shop.example"],
      },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(password);
    const vault = { id: team.namespace, name: team.namespace };
    expect((await parts.call("POST", `${path}/${id}/test`)).body).toEqual({ success: true, vaults: [vault] });
    for (const [token, error] of [
      [team.weakToken, "403"],
      ["no.token.at-all", "401"],
    ] as const) {
      await parts.call("PATCH", `${path}/${id}`, { token });
      const tried = (await parts.call("POST", `${path}/${id}/test`)).body;
      expect(tried).toEqual({ success: false, vaults: [], error: expect.stringContaining(error) });
      expect(await parts.call("GET", `${path}/${id}/items`)).toMatchObject({ status: 409, body: { code: "conflict" } });
    }
    const ref = { namespace: parts.services.config.systemNamespace, name: `credential-provider-${id}` };
    const sealed = Buffer.from("bp-sealed:v1:00000000:AAAA").toString("base64");
    await parts.kube.patch(secrets, ref, { data: { token: sealed } });
    const undone = (await parts.call("POST", `${path}/${id}/test`)).body;
    expect(undone).toMatchObject({ success: false, error: expect.stringContaining("give it again") });
    await parts.call("PATCH", `${path}/${id}`, { token: team.token, label_selector: "((" });
    expect((await parts.call("POST", `${path}/${id}/test`)).body.error).toContain("400");
  });

  // PROVIDER-4: only by the rights of the token
  test("are not read by the rights of the service", async () => {
    const { id } = await make({ namespace: parts.namespace });
    expect((await parts.call("POST", `${path}/${id}/test`)).body).toMatchObject({ success: false });
  });
});

describe("a connection takes its login", () => {
  // PROVIDER-6, PROVIDER-7, PROVIDER-9
  test("from a path, as the Secret is now, with the origins of its addresses", async () => {
    const seed = "otpauth://totp/shop:ann?secret=GEZDGNBVGY3TQOJQ&issuer=shop";
    await team.put("by-path", "https://shop.example/login", { username: "ann", password, totp: seed });
    const { name } = await make();
    const connection = await connect({ provider: name, path: `${team.namespace}/by-path` });
    const allowedOrigins = ["https://shop.example"];
    expect(await opened(connection)).toEqual({
      ...{ values: { username: "ann", password }, totp: "GEZDGNBVGY3TQOJQ", allowedOrigins },
    });
    await team.put("by-path", "https://other.example", { password: "changed" });
    expect(await opened(connection)).toMatchObject({
      ...{ values: { password: "changed" }, allowedOrigins: ["https://other.example"] },
    });
    await team.remove("by-path");
    expect(await opened(connection)).toBe("external_credential_not_found");
  });

  // PROVIDER-8, PROVIDER-9
  test("by the domain, in the order of the providers, and once more when the Secret has changed since", async () => {
    for (const { id } of await fetchProviders(parts.services))
      await parts.call("PATCH", `${path}/${id}`, { enabled: false });
    const domain = `${fresh("a")}.example`;
    const label = (of: string) => ({ labels: { of } });
    await team.put("second", `https://${domain}`, { password: "second" }, label("second"));
    await team.put("below", `https://login.${domain}`, { password: "below" }, label("first"));
    const [low, high] = [await make({ label_selector: "of=second" }), await make({ label_selector: "of=first" })];
    await parts.call("PATCH", `${path}/${low.id}`, { priority: 2000 });
    const anywhere = await connect({ auto: true }, { domain });
    const fromLow = await connect({ provider: low.name, auto: true }, { domain });
    expect(await opened(anywhere)).toMatchObject({ values: { password: "below" } });
    expect(await opened(fromLow)).toMatchObject({ values: { password: "second" } });
    // The kept lists have neither the new name nor that the old one is gone.
    await team.put("below-renamed", `https://${domain}`, { password: "renamed" }, label("first"));
    await team.remove("below");
    expect(await opened(anywhere)).toMatchObject({ values: { password: "renamed" } });
    await parts.call("PATCH", `${path}/${high.id}`, { enabled: false });
    expect(await opened(anywhere)).toMatchObject({ values: { password: "second" } });
    await parts.call("DELETE", `${path}/${low.id}`);
    expect(await opened(fromLow)).toBe("external_credential_not_found");
  });

  // PROVIDER-10
  test("only if the provider is for its project, and its labels have the Secret", async () => {
    await team.put("mine", "https://shop.example", { password }, { labels: { of: "mine" } });
    const { id, name } = await make({ projects: [parts.projectId], label_selector: "of=mine" });
    const credential = { provider: name, path: `${team.namespace}/mine` };
    const [own, foreign] = [await connect(credential), await connect(credential, {}, parts.other.projectId)];
    expect(await opened(own)).toMatchObject({ values: { password } });
    expect(await opened(foreign, parts.other.projectId)).toBe("external_credential_not_found");
    await parts.call("PATCH", `${path}/${id}`, { label_selector: "of=others" });
    expect(await opened(own)).toBe("external_credential_not_found");
    for (const bad of [
      `${parts.namespace}/mine`,
      `${team.namespace}/mine/..`,
      `${team.namespace}/a,metadata.name=b`,
      "mine",
    ]) {
      expect(await opened(await connect({ provider: name, path: bad }))).toBe("external_credential_not_found");
    }
  });

  // PROVIDER-7
  test("only if it can be typed", async () => {
    const { name } = await make();
    const urls = "https://shop.example";
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`v${index}`, "x"]));
    await team.put("bytes", urls, { password: Buffer.from([0xff, 0xfe, 0x00]) });
    await team.put("lines", urls, { password: "a\nb" });
    await team.put("huge", urls, { password: "x".repeat(1_000_000) });
    await team.put("empty", urls, { password: "" });
    await team.put("many", urls, many);
    await team.put("seed-only", urls, { totp: "GEZDGNBVGY3TQOJQ" });
    await team.put("cert", urls, { "tls.crt": "x", "tls.key": "x" }, { type: "kubernetes.io/tls" });
    for (const item of ["bytes", "lines", "huge", "empty", "many", "seed-only", "cert"]) {
      const connection = await connect({ provider: name, path: `${team.namespace}/${item}` });
      expect([item, await opened(connection)]).toEqual([item, "external_credential_unusable"]);
    }
    await team.put("bad-seed", urls, { password, totp: "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&digits=8" });
    const connection = await connect({ provider: name, path: `${team.namespace}/bad-seed` });
    expect(await opened(connection)).toMatchObject({ values: { password }, totp: undefined });
  });

  // PROVIDER-9
  test("with one list for all who look at once, and none again at once where it has failed", async () => {
    const domain = `${fresh("many")}.example`;
    const { id, name } = await make({ label_selector: "of=many" });
    await team.put("many", `https://${domain}`, { password }, { labels: { of: "many" } });
    const connection = await connect({ provider: name, auto: true }, { domain });
    const project = parts.services.projects.find(parts.projectId);
    if (!project) throw new Error("no such project");
    let lists = 0;
    const asAccount: Kube["asAccount"] = (token, options) => {
      const reads = parts.services.kube.asAccount(token, options);
      const read: typeof reads.read = (place, how) => {
        if (how.accept !== undefined) lists += 1;
        return reads.read(place, how);
      };
      return { ...reads, read };
    };
    const kube = { ...parts.services.kube, asAccount };
    const { open } = createProviderLookups({ ...parts.services, kube });
    const many = () => Promise.allSettled(Array.from({ length: 30 }, () => open(connection, project)));
    expect((await many()).map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => "fulfilled"));
    expect(lists).toBe(1);
    await parts.call("PATCH", `${path}/${id}`, { token: team.weakToken });
    for (const _ of [1, 2]) expect(new Set((await many()).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(lists).toBe(2);
  });

  // PROVIDER-9
  test("until the token's rights end, and again afterwards", async () => {
    await team.put("revoked", "https://shop.example", { password });
    const { name } = await make();
    const connection = await connect({ provider: name, path: `${team.namespace}/revoked` });
    expect(await opened(connection)).toMatchObject({ values: { password } });
    await team.allow(false);
    await eventually("the rights are gone", async () => (await opened(connection)) === "credential_provider_refused");
    await team.allow(true);
    await eventually("the rights are back", async () => typeof (await opened(connection)) === "object");
  });
});

describe("around it", () => {
  // PROVIDER-4, PROVIDER-5
  test("the objects of docs/credential-providers.md are what a provider needs", async () => {
    const types = createResourceTypes(parts.kube);
    const [yaml = ""] = docExamples("credential-providers.md", "yaml");
    for (const object of parseAllDocuments(yaml).map((one) => one.toJS()))
      await parts.kube.create(await types.of(object), object);
    const account = { namespace: "team-logins", name: "logins" };
    const token = await accountToken(account, (await sharedServers()).kubeconfigPath);
    const { id } = await make({ namespace: "team-logins", token });
    const { items } = (await parts.call("GET", `${path}/${id}/items`)).body;
    expect(items).toMatchObject([
      { path: "team-logins/shop", title: "The shop", urls: ["https://shop.example/login"] },
    ]);
    await parts.call("DELETE", `${path}/${id}`);
    await parts.kube.delete(namespaces, { name: "team-logins" });
  });

  // ITEM-13, ITEM-14, ITEM-26
  test("items are external_credential, and ready again with a stored credential", async () => {
    const { name } = await make();
    const login = fresh("login");
    await parts.call("POST", "/credentials", { name: login, domain: "shop.example", values: { password: "p" } });
    const { metadata } = await connect({ name: login });
    const vault = (await parts.call("POST", "/vaults", { name: fresh("vault") })).body.id;
    const item = `/vaults/${vault}/items/k`;
    const { body: first } = await parts.call("PUT", item, itemOf(metadata.name));
    const change = (credential: object) => parts.call("PATCH", `/auth/connections/${metadata.name}`, { credential });
    for (const credential of [{ provider: name, path: "a/b" }, { provider: name, auto: true }, { auto: true }]) {
      expect((await change(credential)).body.credential).toEqual(credential);
      expect((await parts.call("GET", item)).body).toMatchObject({
        ...{ id: first.id, state: { status: "unavailable", status_reason: "external_credential" } },
        available_operations: [],
      });
      const refused = await parts.call("PUT", `/vaults/${vault}/items/other`, itemOf(metadata.name));
      expect(refused).toMatchObject({ status: 409, body: { code: "external_credential_provider" } });
    }
    await change({ name: login });
    expect((await parts.call("GET", item)).body).toMatchObject({ id: first.id, state: { status: "ready" } });
  });

  // PROVIDER-11
  test("there are at most 20, and no log line or Secret has a token or a value", async () => {
    for (let count = (await fetchProviders(parts.services)).length; count < 20; count += 1) await make();
    const { namespace, token } = team;
    const request = { name: fresh("provider"), provider_type: "kubernetes", namespace, token };
    expect(await parts.call("POST", path, request)).toMatchObject({ status: 409, body: { code: "conflict" } });
    const { items } = await parts.kube.list(secrets, { namespace: parts.services.config.systemNamespace });
    const stored = JSON.stringify(
      items.map(({ metadata, data = {} }) => [
        metadata,
        Object.values(data).map((one) => Buffer.from(one, "base64").toString()),
      ]),
    );
    // The control: what is looked for would be found.
    expect(stored).toContain(team.namespace);
    const logged = await parts.logged();
    expect(logged).toContain("credential_providers");
    for (const text of [stored, logged]) for (const secret of [token, password]) expect(text).not.toContain(secret);
  });
});

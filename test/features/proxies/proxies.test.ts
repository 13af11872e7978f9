/** Proxies over HTTP, by the public client and as YAML. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { browserPoolKind } from "../../../src/core/model/pools/browser-pool.ts";
import { proxyKind } from "../../../src/features/proxies/proxy.ts";
import type { CheckProxy, CreateProxy, ProxyAnswer, UpdateProxy } from "../../../src/features/proxies/proxy-wire.ts";
import { secrets } from "../../../src/platform/kube/resource-type.ts";
import { eventually } from "../../support/eventually.ts";
import { collect } from "../../support/filled-pool.ts";
import { type ForwardingProxy, startForwardingProxy } from "../../support/forwarding-proxy.ts";
import { ownAddress } from "../../support/own-address.ts";
import { testCertificates } from "../../support/test-certificates.ts";
import { fresh, startVaultParts, type VaultParts } from "../vaults/vault-parts.ts";

const canary = "canary-pr0xy-passw0rd";
const own = ownAddress();
const { authority, key } = testCertificates();
const folderOf = () => mkdtemp(join(tmpdir(), "browserpool-provider-"));

let parts: VaultParts;
let folder: string;
let server: ForwardingProxy;
let client: Kernel;
beforeAll(async () => {
  folder = await folderOf();
  const file = join(folder, "provider.yaml");
  await writeFile(join(folder, "password"), "pr0vider\n");
  server = await startForwardingProxy({ host: own, login: "acme-cc-us:pr0vider", sites: {} });
  const gateway = `{host: "${own}", port: ${server.port}, protocol: http, passwordFile: password`;
  await writeFile(file, `isp: ${gateway}, username: "acme[-cc-{country}]"}\n`);
  parts = await startVaultParts({
    encrypted: true,
    settings: {
      BROWSERPOOL_BROWSER_FEATURES: "network",
      BROWSERPOOL_PROXY_PROVIDER_FILE: file,
      BROWSERPOOL_PROXY_CHECK_PRIVATE_HOSTS: `${own}`,
    },
  });
  client = parts.client();
});
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const custom = (more: object = {}) => ({ type: "custom", config: { host: "proxy.example", port: 3128, ...more } });

const created = async (body: object): Promise<ProxyAnswer> => {
  const answer = await parts.call("POST", "/proxies", body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};

const stored = (id: string) => parts.kube.get(proxyKind, { name: id, namespace: parts.namespace });
const secretOf = (id: string) => parts.kube.get(secrets, { name: `proxy-${id}`, namespace: parts.namespace });

// HTTP-27
test("what the public client sends and reads fits", () => {
  expectTypeOf<Kernel.ProxyCreateParams>().toExtend<z.input<typeof CreateProxy>>();
  expectTypeOf<Kernel.ProxyUpdateParams>().toExtend<z.input<typeof UpdateProxy>>();
  expectTypeOf<Kernel.ProxyCheckParams>().toExtend<z.input<typeof CheckProxy>>();
});

describe("the public client", () => {
  // PROXY-2, PROXY-3, PROXY-9, PROXY-11, HTTP-27
  test("creates, reads, lists, renames, checks and deletes proxies", async () => {
    const name = fresh("Büro");
    const made = await client.proxies.create({
      type: "custom",
      name: ` ${name} `,
      protocol: "http",
      bypass_hosts: ["*.corp.example"],
      config: { host: own, port: server.port, username: "acme-cc-us", password: "pr0vider" },
    });
    const { id = "" } = made;
    expect(made).toEqual({
      id,
      name,
      type: "custom",
      protocol: "http",
      bypass_hosts: ["*.corp.example"],
      config: { host: own, port: server.port, username: "acme-cc-us", has_password: true, has_ca_bundle: false },
    });
    expect(await client.proxies.retrieve(id)).toEqual(made);
    const twin = await client.proxies.create({ type: "isp", name });
    expect(twin).toEqual({ id: twin.id, name, type: "isp", protocol: "http", config: { country: "US" } });
    const listed = async (query: object): Promise<unknown[]> =>
      (await collect(client.proxies.list({ limit: 1, ...query }))).map((each) => each.id).sort();
    expect(await listed({ name: name.toUpperCase().replace("Ü", "U") })).toEqual([id, twin.id].sort());
    expect(await listed({ name: name.slice(1) })).toEqual([]);
    expect(await listed({ query: own })).toContain(id);
    expect(await listed({ query: name.toLowerCase().slice(2) })).toEqual([id, twin.id].sort());
    expect(await listed({ query: id })).toEqual([id]);
    expect(await client.proxies.update(twin.id ?? "", { name: " other " })).toEqual({ ...twin, name: "other" });
    expect(await listed({ name })).toEqual([id]);

    const checked = await client.proxies.check(id);
    expect(checked).toEqual({ ...made, status: "available", last_checked: expect.any(String) });
    expect(await client.proxies.retrieve(id)).toEqual(checked);
    await eventually("the status says so", async () => (await stored(id))?.status?.availability === "available");

    await client.proxies.delete(id);
    await expect(client.proxies.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await eventually("the Secret is gone", async () => (await secretOf(id)) === undefined);
    await eventually("the proxy is gone", async () => (await stored(id)) === undefined);
    await client.proxies.delete(twin.id ?? "");
  });

  // PROXY-11
  test("finds a proxy by its name, and no other where several have it", async () => {
    const { id } = await created({ ...custom(), name: "by name" });
    const path = `/proxies/${encodeURIComponent("by name")}`;
    expect(await parts.call("GET", path)).toMatchObject({ status: 200, body: { id } });
    expect(await parts.call("POST", `${path}/check`)).toMatchObject({ status: 200, body: { id } });
    const twin = await created({ ...custom(), name: "by name" });
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const)
      expect(await parts.call(method, path, body)).toMatchObject({
        status: 400,
        body: { code: "ambiguous_proxy_name", message: expect.stringContaining(twin.id) },
      });
    for (const refused of [id, "..", "a\u0000b", "a\nb", "\u009f"])
      expect(await parts.call("POST", "/proxies", { ...custom(), name: refused })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("name") },
      });
    expect(await parts.call("PATCH", `/proxies/${twin.id}`, { name: "twin" })).toMatchObject({ status: 200 });
    expect((await parts.call("DELETE", path)).status).toBe(204);
    await eventually("the proxy is gone", async () => (await stored(id)) === undefined);
  });

  test("gets 404 for an unknown id or name, and another project's", async () => {
    const { id } = await created({ ...custom(), name: "addressed" });
    for (const [method, path] of [
      ["GET", "/proxies/none"],
      ["PATCH", "/proxies/none"],
      ["DELETE", "/proxies/none"],
      ["POST", "/proxies/none/check"],
    ] as const)
      expect(
        (await parts.call(method, path, method === "PATCH" ? { name: "x" } : undefined)).status,
        `${method} ${path}`,
      ).toBe(404);
    for (const method of ["GET", "DELETE"])
      for (const one of [id, "addressed"])
        expect((await parts.call(method, `/proxies/${one}`, undefined, parts.other.projectId)).status).toBe(404);
    expect((await parts.call("GET", "/proxies", undefined, parts.other.projectId)).body).toEqual([]);
  });
});

describe("secrets of a proxy", () => {
  // PROXY-9
  test("are in its Secret alone, encrypted, and never answered", async () => {
    const { id, config } = await created(custom({ username: "ann", password: canary, ca_bundle: authority }));
    expect(config).toMatchObject({ has_password: true, has_ca_bundle: true });
    const data = (await secretOf(id))?.data ?? {};
    expect(Object.keys(data).sort()).toEqual(["ca.crt", "password"]);
    for (const value of Object.values(data)) expect(Buffer.from(value, "base64").toString()).toMatch(/^bp-sealed:v1:/);
    const seen = [JSON.stringify(await stored(id)), await parts.logged()];
    for (const path of ["/proxies", `/proxies/${id}`, `/proxies?query=${canary}`])
      seen.push(JSON.stringify((await parts.call("GET", path)).body));
    for (const text of seen) expect(text).not.toContain(canary);
    for (const text of seen.slice(2)) expect(text).not.toContain("CERTIFICATE");
  });

  // PROXY-8, PROXY-15, LIMIT-17
  test.each<[string, object, string]>([
    ["a password of 4097 characters", { password: "p".repeat(4097) }, "config.password"],
    ["a password on two lines", { password: `${canary}\r\nX: y` }, "config.password"],
    ["a password like an encrypted one", { password: "bp-sealed:v1:x" }, "config.password"],
    ["a bundle of 65537 characters", { ca_bundle: "x".repeat(65_537) }, "config.ca_bundle"],
    ["a private key", { ca_bundle: key }, "config.ca_bundle"],
    ["a bundle that is none", { ca_bundle: canary }, "config.ca_bundle"],
  ])("%s are refused, and nothing is kept", async (_, more, path) => {
    const before = (await parts.kube.list(proxyKind, { namespace: parts.namespace })).items.length;
    const { status, body } = await parts.call("POST", "/proxies", custom(more));
    expect({ status, paths: body.details.map((detail: { path: string }) => detail.path) }).toEqual({
      status: 400,
      paths: [path],
    });
    expect(JSON.stringify(body)).not.toContain(canary);
    expect((await parts.kube.list(proxyKind, { namespace: parts.namespace })).items.length).toBe(before);
  });

  // LIMIT-17
  test("of 4096 and 65536 characters are kept", async () => {
    const ca_bundle = `${authority}${" ".repeat(65_536 - authority.length)}`;
    await created(custom({ password: "p".repeat(4096), username: "u".repeat(4096), ca_bundle }));
  });

  // PROXY-8
  test("of a user's own Secret are used as its spec says, and the Secret stays", async () => {
    const name = fresh("mine");
    const entry = (text: string): string => Buffer.from(text).toString("base64");
    const data = { password: entry("pr0vider"), "ca.crt": entry("broken") };
    await parts.kube.create(secrets, { metadata: { name, namespace: parts.namespace }, type: "Opaque", data });
    const spec = {
      type: "custom" as const,
      protocol: "http" as const,
      custom: {
        host: own,
        port: server.port,
        username: "acme-cc-us",
        secretRef: { name },
        hasPassword: true,
        hasCaBundle: false,
      },
    };
    await parts.kube.create(proxyKind, { metadata: { name, namespace: parts.namespace }, spec });
    expect((await parts.call("POST", `/proxies/${name}/check`)).body).toMatchObject({ status: "available" });
    await parts.kube.patch(
      proxyKind,
      { name, namespace: parts.namespace },
      { spec: { custom: { hasCaBundle: true } } },
    );
    expect((await parts.call("GET", `/proxies/${name}`)).body).not.toHaveProperty("status");
    const broken = await parts.call("POST", `/proxies/${name}/check`);
    expect(broken).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(broken.body.message).toContain("ca.crt");
    await parts.call("DELETE", `/proxies/${name}`);
    await eventually("the proxy is gone", async () => (await stored(name)) === undefined);
    expect(await parts.kube.get(secrets, { name, namespace: parts.namespace })).toBeDefined();
  });

  // PROXY-8
  test("of Secrets with another purpose are not read", async () => {
    const name = fresh("token");
    const data = { password: Buffer.from(canary).toString("base64") };
    await parts.kube.create(secrets, {
      metadata: { name, namespace: parts.namespace },
      type: "browserpool.dev/agent-key",
      data,
    });
    const custom = { host: own, port: server.port, secretRef: { name }, hasPassword: true, hasCaBundle: false };
    await parts.kube.create(proxyKind, {
      metadata: { name, namespace: parts.namespace },
      spec: { type: "custom", custom },
    });
    expect(await parts.call("POST", `/proxies/${name}/check`)).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  });
});

describe("a request for a proxy is refused", () => {
  // PROXY-3, PROXY-5, PROXY-6, PROXY-7, PROXY-8
  test.each<[object, string]>([
    [{}, "type"],
    [{ type: "socks" }, "type"],
    [{ type: "isp", protocol: "ftp" }, "protocol"],
    [{ type: "isp", name: " " }, "name"],
    [{ type: "isp", name: "n".repeat(256) }, "name"],
    [{ type: "isp", bypass_hosts: ["a.test", "https://b.test"] }, "bypass_hosts[1]"],
    [{ type: "isp", config: { country: "NL" } }, "config.country"],
    [{ type: "isp", config: { host: "a", port: 1 } }, "config.host"],
    [{ type: "custom", config: { host: "a", port: 1, country: "US" } }, "config.country"],
    [{ type: "custom" }, "config.host"],
    [{ type: "custom", config: { host: "a" } }, "config.port"],
    [{ type: "custom", config: { host: "a", port: "1" } }, "config.port"],
    [{ type: "custom", config: { host: "", port: 1 } }, "config.host"],
    [{ type: "custom", config: { host: "a b", port: 1 } }, "config.host"],
    [{ type: "custom", config: { host: "a", port: 1, username: "a\nb" } }, "config.username"],
    [{ type: "residential", config: { city: "paris" } }, "config.city"],
    [{ type: "residential", config: { country: "ZZ" } }, "config.country"],
    [{ type: "residential", config: { os: "ios" } }, "config.os"],
    [{ type: "mobile", config: { state: "ON" } }, "config.state"],
  ])("with %j, naming %s", async (body, path) => {
    const { status, body: error } = await parts.call("POST", "/proxies", body);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: "bad_request", inner_error: { code: "invalid_input" } });
    expect(error.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  // PROXY-14, HTTP-30
  test.each<[object, string]>([
    [{ type: "residential" }, "type"],
    [{ type: "datacenter" }, "type"],
    [{ type: "isp", protocol: "https" }, "protocol"],
  ])("that no provider here carries out: %j", async (body, path) => {
    const { status, body: error } = await parts.call("POST", "/proxies", body);
    expect([status, error.code, error.details[0].path]).toEqual([400, "not_supported_here", path]);
  });

  test("takes codes in small letters", async () => {
    expect((await created({ type: "isp", config: { country: "us" } })).config).toEqual({ country: "US" });
  });
});

describe("as YAML", () => {
  const accepted = (name: string) =>
    eventually("the operator has judged it", async () =>
      (await stored(name))?.status?.conditions.find(({ type }) => type === "Accepted"),
    );

  // PROXY-14, HTTP-30
  test("a proxy that can't be carried out is not accepted", async () => {
    for (const [spec, reason, field] of [
      [{ type: "mobile" }, "NotSupportedHere", "spec.type"],
      [{ type: "residential", residential: { city: "paris" } }, "InvalidSpec", "spec.residential.city"],
    ] as const) {
      const name = fresh("yaml");
      await parts.kube.create(proxyKind, { metadata: { name, namespace: parts.namespace }, spec } as never);
      const condition = await accepted(name);
      expect(condition).toMatchObject({ status: "False", reason, message: expect.stringContaining(field) });
    }
  });

  // PROXY-3
  test.each<[string, object]>([
    ["a member of another type", { type: "isp", custom: { host: "a", port: 1 } }],
    ["no settings for a custom one", { type: "custom" }],
    ["a password without a Secret", { type: "custom", custom: { host: "a", port: 1, hasPassword: true } }],
  ])("%s is refused by the API server", async (_, spec) => {
    const object = { metadata: { name: fresh("yaml"), namespace: parts.namespace }, spec };
    await expect(parts.kube.create(proxyKind, object as never)).rejects.toMatchObject({ reason: "Invalid" });
  });
});

describe("a managed proxy", () => {
  // PROXY-13, PROXY-17
  test("is checked at the provider's gateway, with its login", async () => {
    const { id } = await created({ type: "isp" });
    const before = server.seen.length;
    const { status, body } = await parts.call("POST", `/proxies/${id}/check`, {});
    expect([status, body.status]).toEqual([200, "available"]);
    expect(server.seen.slice(before)).toEqual(["CONNECT check.invalid:443"]);
    expect(await parts.logged()).not.toContain("pr0vider");
  });

  // PROXY-17
  test("that was asked for a URL keeps what it had", async () => {
    const { id } = await created({ type: "isp" });
    const { body } = await parts.call("POST", `/proxies/${id}/check`, { url: "http://127.0.0.1/" });
    expect(body).toMatchObject({ code: "bad_request", details: [{ path: "url" }] });
    for (const url of ["ftp://site.test/", "nonsense", "x".repeat(3000)])
      expect((await parts.call("POST", `/proxies/${id}/check`, { url })).status).toBe(400);
    expect((await parts.call("GET", `/proxies/${id}`)).body).not.toHaveProperty("status");
  });
});

// PROXY-12
test("a proxy that a pool refers to stays, until the pool goes", async () => {
  const name = fresh("used");
  const { id } = await created({ ...custom(), name });
  const routes = [{ hosts: ["a.test"], proxy: { name } }];
  const pool = {
    size: 1,
    fill_rate_per_minute: 0,
    headless: true,
    name: fresh("pool"),
    network: { proxy_routes: routes },
  };
  const { body } = await parts.call("POST", "/browser_pools", pool);
  const refused = await parts.call("DELETE", `/proxies/${id}`);
  expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
  expect(refused.body.message).toContain(pool.name);
  await created({ ...custom(), name });
  const again = await parts.call("POST", "/browser_pools", { ...pool, name: fresh("pool") });
  expect(again.status).toBe(400);
  expect(again.body.details).toEqual([
    expect.objectContaining({ path: "network.proxy_routes[0].proxy", message: expect.stringContaining("give the id") }),
  ]);
  await parts.kube.delete(browserPoolKind, { name: body.id, namespace: parts.namespace });
  expect((await parts.call("DELETE", `/proxies/${id}`)).status).toBe(204);
});

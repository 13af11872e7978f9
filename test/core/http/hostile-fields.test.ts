/**
 * What a request may not leave unsaid: fields that are not carried out, names that look like ids, texts that are no
 * URLs, deep bodies.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { type OrgApi, startOrgApi } from "../projects/org-api.ts";

let api: OrgApi;
beforeAll(async () => {
  api = await startOrgApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const raw = (method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(api.url + path, {
    method,
    headers: {
      authorization: `Bearer ${api.organizationKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });

describe("an API key", () => {
  // AUTH-18, HTTP-32
  test.each([
    ["policy", "not_supported_here", { policy: { statements: [{ action: "vaults:read", resource: "projects/*" }] } }],
    ["scopes", "bad_request", { scopes: [] }],
    ["expires_in", "bad_request", { expires_in: 60 }],
    ["permission", "bad_request", { permission: ["pools:read"] }],
    ["expires_at", "bad_request", { expires_at: "2020-01-01T00:00:00Z" }],
    ["expires_at", "bad_request", { expires_at: "2100-01-01T00:00:00Z" }],
    ["expires_at", "bad_request", { expires_at: "tomorrow" }],
    ["expires_at", "bad_request", { expires_at: "2030-01-01T00:00:00Z", days_to_expire: 2 }],
  ])("is not made while %s is not carried out: %s", async (field, code, more) => {
    const name = `k-${newId()}`;
    const answer = await api.call("POST", "/org/api_keys", { body: { name, ...more } });
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(answer.body.message).toContain(field);
    expect((await api.call("GET", `/org/api_keys?name=${name}`)).body).toEqual([]);
  });

  // ORG-3, AUTH-18
  test("expires when expires_at says, not after the key that makes it, and so does the key that takes its place", async () => {
    const atMs = Date.now() + 36 * 3600 * 1000;
    const expires_at = new Date(atMs).toISOString();
    const made = await api.call("POST", "/org/api_keys", { body: { name: `k-${newId()}`, expires_at } });
    expect(made).toMatchObject({ status: 201 });
    expect(Math.abs(Date.parse(String(made.body.expires_at)) - atMs)).toBeLessThan(5000);
    const key = String(made.body.key);
    const longer = { name: `k-${newId()}`, expires_at: new Date(atMs + 3600 * 1000).toISOString() };
    expect(await api.call("POST", "/org/api_keys", { body: longer, key })).toMatchObject({ status: 400 });
    const rotated = await api.call("POST", `/org/api_keys/${made.body.id}/rotate`, { body: {} });
    expect(Math.abs(Date.parse(String(rotated.body.expires_at)) - atMs)).toBeLessThan(60_000);
  });

  // AUTH-18
  test.each([
    ["POST", "/org/projects", { name: "p", limits: {} }, "limits"],
    ["PATCH", "/org/limits", { max_concurrent_sessions: 5 }, "max_concurrent_sessions"],
    ["PATCH", "/org/projects/x/limits", { max_sessions: 5 }, "max_sessions"],
    ["PATCH", "/org/api_keys/x", { name: "n", expires_at: null }, "expires_at"],
    ["POST", "/org/api_keys/x/rotate", { permissions: [] }, "permissions"],
    [
      "POST",
      "/org/credential_providers",
      { name: "p", provider_type: "kubernetes", namespace: "team", token: "t", project: "x" },
      "project",
    ],
    ["PATCH", "/org/credential_providers/x", { project: "x" }, "project"],
    ["POST", "/vaults", { name: "v", allowed_origins: [] }, "allowed_origins"],
    [
      "PUT",
      "/vaults/v/items/k",
      { type: "credential", spec: { provider: "managed_auth", connection_id: "c", allowed_origin: [] } },
      "spec.allowed_origin",
    ],
    [
      "POST",
      "/credentials",
      { name: "c", domain: "a.example", values: {}, allowed_origin: ["https://a.example"] },
      "allowed_origin",
    ],
    ["POST", "/auth/connections", { domain: "a.example", profile_name: "p", allowed_origin: [] }, "allowed_origin"],
  ])("and all else about rights, time and limits has no unknown fields: %s %s", async (method, path, body, field) => {
    const answer = await api.call(method, path, { body });
    expect(answer).toMatchObject({ status: 400, body: { code: "bad_request", details: [{ path: field }] } });
  });
});

describe("a body", () => {
  // HTTP-6
  test("has its unknown fields named in the answer, also in that of a repetition", async () => {
    const body = JSON.stringify({
      size: 1,
      fill_rate_per_minute: 0,
      sizes: 3,
      viewport: { width: 9, height: 9, dpi: 2 },
    });
    const key = { "idempotency-key": newId() };
    for (const _each of [1, 2]) {
      const response = await raw("POST", "/browser_pools", body, key);
      expect([response.status, response.headers.get("x-ignored-fields")]).toEqual([200, "sizes, viewport.dpi"]);
    }
    expect(
      (await raw("POST", "/browser_pools", JSON.stringify({ size: 1, fill_rate_per_minute: 0 }))).headers.has(
        "x-ignored-fields",
      ),
    ).toBe(false);
  });

  // HTTP-32
  test.each([
    ["PATCH", "/browsers/x", { proxy: { name: null } }, "proxy.name"],
    ["POST", "/browsers", { video_memory: "2GiB" }, "video_memory"],
    ["POST", "/credentials", { name: "c", domain: "a.example", values: {}, totp_digits: 8 }, "totp_digits"],
    ["GET", "/browsers?region=us-east", undefined, "region"],
  ])(
    "with a field of newer clients that is not carried out is refused by name: %s %s %j",
    async (method, path, body, field) => {
      const answer = await api.call(method, path, { body });
      expect(answer).toMatchObject({ status: 400, body: { code: "not_supported_here", details: [{ path: field }] } });
    },
  );

  // LIMIT-31
  test.each([["browser_pools"], ["browsers"], ["vaults"], ["credentials"]])(
    "that is deep is 400, also with an Idempotency-Key: %s",
    async (path) => {
      const deep = `{"size":1,"chrome_policy":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`;
      const response = await raw("POST", `/${path}`, deep, { "idempotency-key": newId() });
      expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
        400,
        expect.stringContaining("deeper"),
      ]);
    },
  );
});

describe("a name", () => {
  const names = [newId(), ".", ".."];
  // HTTP-33
  test.each([
    ["POST", "/browser_pools", { size: 1, fill_rate_per_minute: 0 }],
    ["PATCH", "/browser_pools/x", {}],
    ["POST", "/browsers", { headless: true }],
    ["PATCH", "/browsers/x", {}],
    ["POST", "/browser_pools/x/acquire", {}],
    ["POST", "/profiles", {}],
    ["PATCH", "/profiles/x", {}],
    ["POST", "/vaults", {}],
    ["POST", "/credentials", { domain: "a.example", values: {} }],
    ["PATCH", "/credentials/x", {}],
    ["POST", "/telemetry/destinations", { endpoint: "https://a.example" }],
    ["PATCH", "/telemetry/destinations/x", {}],
    ["POST", "/proxies", { type: "custom", config: { host: "a.example", port: 1 } }],
    ["PATCH", "/proxies/x", {}],
    ["POST", "/org/projects", {}],
    ["PATCH", "/org/projects/x", {}],
    ["POST", "/org/api_keys", {}],
    ["PATCH", "/org/api_keys/x", {}],
  ])("is no id and no folder of a URL: %s %s", async (method, path, more) => {
    for (const name of names) {
      const answer = await api.call(method, path, { body: { ...more, name } });
      expect(answer).toMatchObject({ status: 400, body: { code: "bad_request", details: [{ path: "name" }] } });
    }
  });

  // HTTP-33
  test("of an item is no folder of a URL, and may look like an id", async () => {
    const { body: vault } = await api.call("POST", "/vaults", { body: { name: `v-${newId()}` } });
    const body = { type: "credential", spec: { provider: "managed_auth", connection_id: newId() } };
    expect(await api.call("PUT", `/vaults/${vault.id}/items/${newId()}`, { body })).toMatchObject({ status: 404 });
  });
});

describe("a start URL", () => {
  const bad = [
    "\u0000",
    "not a url",
    "file:///etc/passwd",
    "javascript:alert(1)",
    " javascript:alert(1)",
    "https://",
    "https://exa mple.com/",
    "chrome://version",
    "view-source:https://a.example",
    "blob:https://a.example/1",
    "https://a.example/\n",
    "//a.example",
    "about:gpu",
  ];
  // BROWSER-31
  test.each([
    ["POST", "/browser_pools", { size: 1, fill_rate_per_minute: 0 }],
    ["PATCH", "/browser_pools/{pool}", {}],
    ["POST", "/browser_pools/{pool}/acquire", { acquire_timeout_seconds: 0 }],
    ["POST", "/browsers", { headless: true }],
  ])("is a URL that a page may have: %s %s", async (method, path, more) => {
    const { body: pool } = await api.call("POST", "/browser_pools", { body: { size: 1, fill_rate_per_minute: 0 } });
    const at = path.replace("{pool}", String(pool.id));
    for (const start_url of bad)
      expect([start_url, await api.call(method, at, { body: { ...more, start_url } })]).toMatchObject([
        start_url,
        { status: 400, body: { details: [{ path: "start_url" }] } },
      ]);
    if (path === "/browsers") return;
    for (const start_url of [
      "",
      "https://a.example/a b?c#d",
      "HTTP://a.example",
      "about:blank",
      "data:text/html,<b>x y</b>",
      `chrome-extension://${"a".repeat(32)}/x.html`,
    ])
      expect([start_url, (await api.call(method, at, { body: { ...more, start_url } })).status]).toEqual([
        start_url,
        expect.toBeOneOf([200, 204]),
      ]);
  });
});

// HTTP-34
test("a HEAD has the status and the headers of a GET", async () => {
  const { body: pool } = await api.call("POST", "/browser_pools", { body: { size: 1, fill_rate_per_minute: 0 } });
  for (const path of [
    "/browser_pools",
    `/browser_pools/${pool.id}`,
    "/browser_pools/none",
    "/openapi.json",
    "/org/limits",
    "/metrics",
  ]) {
    const [head, get] = [await raw("HEAD", path), await raw("GET", path)];
    expect([path, head.status, head.headers.get("content-type"), await head.text()]).toEqual([
      path,
      get.status,
      get.headers.get("content-type"),
      "",
    ]);
    await get.arrayBuffer();
  }
});

// HTTP-21
test("two POST at once with one Idempotency-Key are one, on every kind of route", async () => {
  const profile = { name: `p-${newId()}` };
  const vault = { name: `v-${newId()}` };
  for (const [path, body] of [
    ["/browser_pools", { size: 1, fill_rate_per_minute: 0 }],
    ["/profiles", profile],
    ["/vaults", vault],
    ["/org/api_keys", { name: `k-${newId()}` }],
    ["/org/projects", { name: `p-${newId()}` }],
  ] as const) {
    const key = { "idempotency-key": newId() };
    const send = async () => {
      const response = await raw("POST", path, JSON.stringify(body), key);
      return [response.status, ((await response.json()) as { id: string }).id];
    };
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(answers[0]?.[0]).toBeLessThan(300);
  }
});

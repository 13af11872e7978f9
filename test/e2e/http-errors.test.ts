/** Bad requests: each answer has the one shape of errors, names what is wrong, and the request changes nothing. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { emptyPool } from "../support/filled-pool.ts";
import { type RawAnswer, rawRequest } from "../support/raw-http.ts";
import {
  badRequest,
  expectRefusal,
  invalid,
  notFound,
  notFoundAt,
  type Send,
  sendRaw,
  storedState,
} from "../support/refused-request.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
let poolId: string;
const poolName = "victim";
beforeAll(async () => {
  stack = await startStack();
  poolId = (await emptyPool(stack.kernel, { name: poolName, size: 2 })).id;
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const send = (method: string, path: string, more: Send = {}): Promise<RawAnswer> => sendRaw(stack, method, path, more);
const sendJson = (method: string, path: string, body: unknown, headers = {}): Promise<RawAnswer> =>
  send(method, path, { body: JSON.stringify(body), headers });

// HTTP-1, HTTP-19
describe("a request that is refused", () => {
  let before: unknown;
  beforeEach(async () => {
    before = await storedState(stack);
  });
  afterEach(async () => expect(await storedState(stack)).toEqual(before));

  // HTTP-2, HTTP-6, HTTP-14, LIMIT-1, LIMIT-3, LIMIT-4, LIMIT-5, LIMIT-7, POOL-3, POOL-20, BROWSER-12, PROFILE-1
  // EXTENSION-1
  test.each([
    ["size", {}],
    ["size", { size: 0 }],
    ["size", { size: 1.5 }],
    ["size", { size: "2" }],
    ["size", { size: null }],
    ["size", { size: 1e12 }],
    ["size", { size: 49 }],
    ["body", []],
    ["body", "text"],
    ["body", null],
    ["name", { size: 1, name: "has space" }],
    ["name", { size: 1, name: "" }],
    ["name", { size: 1, name: "x".repeat(256) }],
    ["fill_rate_per_minute", { size: 1, fill_rate_per_minute: -1 }],
    ["fill_rate_per_minute", { size: 1, fill_rate_per_minute: 6001 }],
    ["timeout_seconds", { size: 1, timeout_seconds: 9 }],
    ["timeout_seconds", { size: 1, timeout_seconds: 259_201 }],
    ["headless", { size: 1, headless: "yes" }],
    ["memory", { size: 1, memory: "4GiB" }],
    ["region", { size: 1, region: "moon" }],
    ["viewport.height", { size: 1, viewport: { width: 800 } }],
    ["viewport.width", { size: 1, viewport: { width: 0, height: 600 } }],
    ["start_url", { size: 1, start_url: `data:,${"x".repeat(2043)}` }],
    ["chrome_policy", { size: 1, chrome_policy: [] }],
    ["chrome_policy.ProxyMode", { size: 1, chrome_policy: { ProxyMode: "direct" } }],
    ["network.private_host", { size: 1, network: { private_host: [] } }],
    ["network.private_hosts[0]", { size: 1, network: { private_hosts: ["8.8.8.0/24"] } }],
    ["telemetry.browser", { size: 1, telemetry: { enabled: false, browser: { page: { enabled: true } } } }],
    ["extensions", { size: 1, extensions: Array.from({ length: 21 }, (_, i) => ({ name: `e${i}` })) }],
    ["refresh_on_profile_update", { size: 1, refresh_on_profile_update: true }],
    ["profile", { size: 1, profile: {} }],
    ["profile.name", { size: 1, profile: { name: "has space" } }],
    ["extensions[1]", { size: 1, extensions: [{ id: "none" }, { id: "none", name: "none" }] }],
  ])("for the %s of a new pool names it: %j", async (path, body) =>
    expectRefusal(await sendJson("POST", "/browser_pools", body), invalid(path)),
  );

  // HTTP-31, PROFILE-1, EXTENSION-1, PROXY-1, NETWORK-5, TELEMETRY-13
  test.each([
    ["profile", "no profile with name nobody", { profile: { name: "nobody" } }],
    ["extensions[1]", "no extension with id none", { extensions: [{ id: "none" }, { id: "none" }] }],
    ["proxy_id", "no proxy with id none", { proxy_id: "none" }],
    [
      "network.proxy_routes[0].proxy",
      "no proxy with name None at all",
      { network: { proxy_routes: [{ hosts: ["a.test"], proxy: { name: "None at all" } }] } },
    ],
    [
      "telemetry.export.otlp.destination",
      "no telemetry destination with name none",
      { telemetry: { export: { otlp: { destination: { name: "none" } } } } },
    ],
  ])("for a %s that names nothing is 404: %s", async (path, message, body) =>
    expectRefusal(await sendJson("POST", "/browser_pools", { size: 1, ...body }), notFoundAt(path, message)),
  );

  // HTTP-2
  test("for several fields names all of them", async () => {
    const body = { size: 0, timeout_seconds: 1, viewport: { width: "a", height: 1 } };
    const answer = await sendJson("POST", "/browser_pools", body);
    for (const path of ["size", "timeout_seconds", "viewport.width"]) expectRefusal(answer, invalid(path));
  });

  // HTTP-14, LIMIT-9
  test.each([
    ["acquire_timeout_seconds", { acquire_timeout_seconds: -1 }],
    ["acquire_timeout_seconds", { acquire_timeout_seconds: "soon" }],
    ["acquire_timeout_seconds", { acquire_timeout_seconds: 0.5 }],
    ["acquire_timeout_seconds", { acquire_timeout_seconds: 1e9 }],
    ["name", { name: "has space" }],
    ["name", { name: "" }],
    ["tags", { tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`t${i}`, ""])) }],
    ["tags.a", { tags: { a: 1 } }],
    ["tags", { tags: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`t${i}`, "x".repeat(1000)])) }],
    ["tags", { tags: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`t${i}`, "\u0001".repeat(200)])) }],
    ["start_url", { start_url: `data:,${"x".repeat(2043)}` }],
    [
      "telemetry",
      { telemetry: { browser: { control: { cdp: { excluded_methods: Array(90).fill("x".repeat(100)) } } } } },
    ],
    ["telemetry.browser", { telemetry: { enabled: false, browser: { page: { enabled: true } } } }],
  ])("for the %s of an acquire names it: %j", async (path, body) =>
    expectRefusal(await sendJson("POST", `/browser_pools/${poolId}/acquire`, body), invalid(path)),
  );

  // LEASE-26
  test.each([
    ["session_id", {}],
    ["session_id", { session_id: 7 }],
    ["session_id", { session_id: "x".repeat(300) }],
    ["reuse", { session_id: "x", reuse: "no" }],
  ])("for the %s of a release names it: %j", async (path, body) =>
    expectRefusal(await sendJson("POST", `/browser_pools/${poolId}/release`, body), invalid(path)),
  );

  // HTTP-7
  test.each([
    ["limit", "/browser_pools?limit=0"],
    ["limit", "/browser_pools?limit=101"],
    ["limit", "/browser_pools?limit=many"],
    ["limit", "/browser_pools?limit=1&limit=2"],
    ["offset", "/browser_pools?offset=-1"],
    ["status", "/browsers?status=gone"],
    ["include_deleted", "/browsers/x?include_deleted=perhaps"],
    ["tags", "/browsers?tags=a"],
    ["tags[a]", "/browsers?tags[a]=1&tags[a]=2"],
    ["tags[]", "/browsers?tags[]=1"],
    ["tags[a][b]", "/browsers?tags[a][b]=1"],
  ])("for the %s of a query names it: %s", async (path, url) => expectRefusal(await send("GET", url), invalid(path)));

  // HTTP-3
  test.each([
    ["GET", "/browser_pools/nothing-here"],
    ["PATCH", "/browser_pools/nothing-here"],
    ["DELETE", "/browser_pools/nothing-here"],
    ["POST", "/browser_pools/nothing-here/acquire"],
    ["POST", "/browser_pools/nothing-here/flush"],
    ["GET", "/browser_pools/%2e%2e%2fsecrets"],
    ["GET", "/browser_pools/..%2f..%2fnamespaces"],
    ["GET", "/browser_pools/a%00b"],
    ["GET", "/browser_pools/%F0%9F%98%80"],
    ["GET", "/browser_pools/__proto__"],
    ["GET", "/browser_pools/constructor"],
    ["GET", "/browsers/nothing-here"],
    ["GET", "/browsers/__proto__?include_deleted=true"],
    ["DELETE", "/browsers/nothing-here"],
    ["GET", "/nothing"],
    ["GET", "/none"],
    ["POST", "//browser_pools"],
    ["GET", "/browser_pools/a/b/c"],
  ])("as unknown: %s %s", async (method, path) => expectRefusal(await send(method, path), notFound));

  // LEASE-26
  test("for a session that the pool does not hold", async () => {
    const release = `/browser_pools/${poolId}/release`;
    expectRefusal(await sendJson("POST", release, { session_id: newId() }), notFound);
  });

  // AUTH-1
  test.each([
    ["no key", {}],
    ["an unknown key", { authorization: "Bearer nobody-knows-this" }],
    ["a very long key", { authorization: `Bearer ${"k".repeat(10_000)}` }],
    ["another scheme", { authorization: "Basic dXNlcjpwYXNz" }],
    ["a key without its scheme", { authorization: "nobody-knows-this" }],
    ["two keys", { authorization: "Bearer a b" }],
  ])("with 401 for %s, at any path", async (_what, headers) => {
    const unauthorized = { status: 401, code: "unauthorized" };
    for (const [method, path] of [
      ["GET", "/browser_pools"],
      ["PATCH", `/browser_pools/${poolId}`],
      ["DELETE", `/browser_pools/${poolId}`],
      ["GET", "/org/api_keys"],
    ] as const)
      expectRefusal(await rawRequest(stack.url, { method, path, headers }), unauthorized);
  });

  // AUTH-7
  test.each([["nothing-here"], ["../default"], ["__proto__"], ["x".repeat(5000)]])(
    "for a project that does not exist: %s",
    async (id) => {
      const headers = { authorization: `Bearer ${stack.organization_key}`, "x-kernel-project-id": id };
      expectRefusal(await send("GET", "/browser_pools", { headers }), { status: 404, code: "project_not_found" });
    },
  );

  // HTTP-25
  test.each([
    ["{", "cut off"],
    ["{'size': 1}", "single quotes"],
    ["size=1", "a form"],
    ["\u0000", "a control character"],
    [`{"size": 1}{"size": 2}`, "two values"],
    ["NaN", "no number"],
  ])("for a body that is not JSON: %s (%s)", async (body) =>
    expectRefusal(await send("POST", "/browser_pools", { body }), badRequest),
  );

  const credential = (password: string): string =>
    `{"name": "not-text", "domain": "shop.example", "values": {"password": "${password}"}}`;

  // HTTP-25
  test.each([
    [Buffer.from([0xff, 0xfe, 0x00]), "no UTF-8"],
    [Buffer.from(credential("geh\u00e9im"), "latin1"), "a password in ISO 8859-1"],
    [Buffer.from(credential("geh\\ud800eim")), "a password with half a surrogate pair"],
  ])("for a body that is not text: %o (%s)", async (body) =>
    expectRefusal(await send("POST", "/credentials", { body }), badRequest),
  );

  // HTTP-25
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
    "application/jsonp",
  ])("for the content type %j", async (type) => {
    const headers = { "content-type": type };
    const answer = await send("POST", "/browser_pools", { body: '{"size": 1}', headers });
    expectRefusal(answer, { status: 415, code: "unsupported_media_type" });
  });

  test("for a compression or a charset that the API does not know", async () => {
    const wanted = { status: 415, code: "unsupported_media_type" };
    const body = '{"size": 1}';
    expectRefusal(await send("POST", "/browser_pools", { body, headers: { "content-encoding": "rot13" } }), wanted);
    const headers = { "content-type": "application/json; charset=klingon" };
    expectRefusal(await send("POST", "/browser_pools", { body, headers }), wanted);
  });

  // HTTP-24
  test.each([
    ["PUT", "/browser_pools", "POST, GET"],
    ["POST", "/browser_pools/x", "GET, PATCH, DELETE"],
    ["GET", "/browser_pools/x/acquire", "POST"],
    ["DELETE", "/browsers", "POST, GET"],
  ])("for a method that is not possible: %s %s", async (method, path, allowed) => {
    const answer = await send(method, path);
    expectRefusal(answer, { status: 405, code: "method_not_allowed" });
    expect(answer.headers.allow).toBe(allowed);
  });

  // HTTP-3, HTTP-42
  test("for another product tells that apart from a path that nobody knows", async () => {
    const another = { status: 404, code: "another_product" };
    expectRefusal(await send("GET", "/apps"), another);
    expectRefusal(await sendJson("POST", "/search", { query: "x" }, { authorization: "" }), another);
    expectRefusal(await sendJson("PATCH", "/vault-provider-configs/x", {}), another);
    expectRefusal(await send("GET", "/app"), notFound);
  });

  // HTTP-4, HTTP-15
  test("for a taken name, and is not retried", async () => {
    const taken = { status: 409, code: "name_taken" };
    expectRefusal(await sendJson("POST", "/browser_pools", { size: 1, name: poolName }), taken);
    const { id } = await emptyPool(stack.kernel);
    expectRefusal(await sendJson("PATCH", `/browser_pools/${id}`, { name: poolName }), taken);
    await stack.kernel.browserPools.delete(id);
  });

  // LIMIT-2
  test("for a sum of sizes above the organization's limit", async () => {
    const others = await emptyPool(stack.kernel, { size: 40 });
    expectRefusal(await sendJson("POST", "/browser_pools", { size: 9 }), invalid("size"));
    expectRefusal(await sendJson("PATCH", `/browser_pools/${poolId}`, { size: 11 }), invalid("size"));
    await stack.kernel.browserPools.delete(others.id);
  });

  // HTTP-23
  test("has the id of the request", async () => {
    const answer = await send("GET", "/nothing", { headers: { "x-request-id": "my-id.1" } });
    expect(answer.headers["x-request-id"]).toBe("my-id.1");
    const another = await send("GET", "/nothing", { headers: { "x-request-id": "not one {of} ours" } });
    expect(another.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
  });
});

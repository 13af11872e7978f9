/**
 * Lookups over HTTP, in local mode as users run it: knowledge comes as YAML, and its recommendations reach the page.
 */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type SiteConfig, siteConfigKind } from "../../../src/features/sites/configs/site-config.ts";
import type { Recipe } from "../../../src/features/sites/site-recipe.ts";
import type { LookupAnswer } from "../../../src/features/sites/site-wire.ts";
import { eventually } from "../../support/eventually.ts";
import { type ForwardingProxy, startForwardingProxy } from "../../support/forwarding-proxy.ts";
import { type LocalStack, startLocalStack } from "../../support/local-stack.ts";
import { ownAddress } from "../../support/own-address.ts";
import { visit } from "../../support/visit.ts";
import { watchRedis } from "../../support/watch-redis.ts";
import { hostileUrls } from "./support/hostile-urls.ts";

const own = ownAddress();
let stack: LocalStack;
let folder: string;
let site: Server;
let gateway: ForwardingProxy;
let resolved: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "browserpool-lookup-"));
  resolved = join(folder, "resolved");
  await writeFile(resolved, "");
  site = createServer((_request, response) => response.end("<title>shop</title><p>welcome to the shop")).listen(0, own);
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  gateway = await startForwardingProxy({
    host: own,
    login: "acme-cc-de:pr0vider",
    sites: { "proxied.example:80": { host: own, port } },
  });
  await writeFile(join(folder, "password"), "pr0vider\n");
  const provider = `isp: {host: "${own}", port: ${gateway.port}, protocol: http, passwordFile: password, username: "acme[-cc-{country}]"}`;
  const residential = `residential: {host: "${own}", port: ${gateway.port}, protocol: http, username: "acme[-cc-{country}]"}`;
  await writeFile(join(folder, "provider.yaml"), `${provider}\n${residential}\n`);
  stack = await startLocalStack({
    env: {
      BROWSERPOOL_PROXY_PROVIDER_FILE: join(folder, "provider.yaml"),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "support/watch-dns.mjs")}`,
      WATCH_DNS_FILE: resolved,
    },
  });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  site?.close();
  await rm(folder, { recursive: true });
});

const lookup = async (url: string, more: object = {}, headers?: Record<string, string>): Promise<LookupAnswer> => {
  const response = await stack.call("POST", "/config-registry/lookup", { url, ...more }, headers);
  const body = await response.json();
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  return body as LookupAnswer;
};

const refused = async (body: object): Promise<{ status: number; path: string }> => {
  const response = await stack.call("POST", "/config-registry/lookup", body);
  const { code, details } = (await response.json()) as { code: string; details: { path: string }[] };
  expect(code).toBe("bad_request");
  return { status: response.status, path: details[0]?.path ?? "" };
};

let made = 0;
const known = async (
  target: string,
  configurations: (Partial<Recipe> & { accessed: number; blocked: number })[],
  spec: object = {},
): Promise<SiteConfig> => {
  made += 1;
  const object = {
    metadata: { name: `site-${made}` },
    spec: {
      scope: "host",
      target,
      configurations: configurations.map(({ accessed, blocked, ...recipe }) => ({
        ...recipe,
        evidence: { accessed, blocked, lastObservedAt: "2026-01-02T03:04:05Z" },
      })),
      ...spec,
    },
  };
  const created = await stack.kube.create(siteConfigKind, object as never);
  const { configurations: count } = created.spec;
  if (count.length + Object.keys(spec).length > 0)
    await eventually(`${target} is known`, async () => {
      const { recommendation, guidance } = await lookup(`https://${target}/`);
      return recommendation !== null || guidance !== null;
    });
  return created;
};

// LOOKUP-1, LOOKUP-9, LOOKUP-23
test("nothing is known of a new target, and that is no error", async () => {
  expect(await lookup("HTTPS://User:Pw@WWW.Unknown.Example:443/a/?b#c")).toEqual({
    target: {
      normalized: "https://www.unknown.example/a",
      host: "www.unknown.example",
      domain: "unknown.example",
    },
    recommendation: null,
    working_configurations: [],
    guidance: null,
  });
});

// LOOKUP-2, LOOKUP-3, LOOKUP-4
const longest = 2048;
test.each<[object, string]>([
  [{}, "url"],
  [{ url: 1 }, "url"],
  [{ url: "" }, "url"],
  [{ url: "http://10.0.0.1/" }, "url"],
  [{ url: "http://0x7f.1/" }, "url"],
  [{ url: "https://a.example/", allowed_proxy_countries: [] }, "allowed_proxy_countries"],
  [{ url: "https://a.example/", allowed_proxy_countries: Array(11).fill("US") }, "allowed_proxy_countries"],
  [{ url: "https://a.example/", allowed_proxy_countries: ["US", "XX"] }, "allowed_proxy_countries[1]"],
  [{ url: "https://a.example/", allowed_proxy_countries: ["USA"] }, "allowed_proxy_countries[0]"],
])("%j is refused", async (body, path) => {
  expect(await refused(body)).toEqual({ status: 400, path });
});

// LOOKUP-8
test.each<[number, string, Record<string, string>]>([
  [401, "unauthorized", { authorization: "Bearer bp_wrong" }],
  [404, "project_not_found", { "X-Kernel-Project-Id": "none" }],
])("another error is %i %s", async (status, code, headers) => {
  const response = await stack.call("POST", "/config-registry/lookup", { url: "https://a.example/" }, headers);
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status,
    body: { code, message: expect.any(String) },
  });
});

// LOOKUP-8
test("a key that may not look up gets 403", async () => {
  const { key = "" } = await stack.kernel.apiKeys.create({ name: "no-lookups", permissions: ["pools:read"] } as never);
  const headers = { authorization: `Bearer ${key}` };
  const response = await stack.call("POST", "/config-registry/lookup", { url: "https://a.example/" }, headers);
  expect({ status: response.status, body: await response.json() }).toMatchObject({
    status: 403,
    body: { code: "forbidden", message: expect.stringContaining("registry:read") },
  });
});

test("limits are accepted to their last value", async () => {
  const url = `https://long.example/${"a".repeat(longest - "https://long.example/".length)}`;
  expect(await refused({ url: `${url}a` })).toEqual({ status: 400, path: "url" });
  const codes = ["us", "DE", "FR", "GB", "SG", "KR", "NL", "ES", "IT", "JP"];
  expect((await lookup(url, { allowed_proxy_countries: codes })).target.normalized).toBe(url);
});

// LOOKUP-26, LOOKUP-50
test("the sample is applied by kubectl, and a lookup answers it within a second", async () => {
  const sample = parse(await readFile("manifests/samples/siteconfig.yaml", "utf8"));
  await stack.kube.create(siteConfigKind, sample);
  const answer = await eventually(
    "the sample is used",
    async () => {
      const found = await lookup("https://www.shop.example/basket");
      return found.recommendation !== null && found;
    },
    1000,
  );
  const { evidence, ...recommended } = answer.working_configurations[0] ?? {};
  expect(recommended).toEqual({
    type: "recommendation",
    browser: { stealth: true, headless: false, gpu: false, viewport: { width: 1440, height: 900 } },
    proxy: { mode: "managed", create: { type: "residential", config: { country: "US" } } },
    match_scope: "host",
    matched_target: "www.shop.example",
  });
  expect(evidence).toEqual({
    success_rate: 1,
    sample_size: 8,
    accessed: 8,
    blocked: 0,
    inconclusive: 1,
    run_count: 2,
    last_observed_at: "2026-11-19T16:00:00Z",
  });
  expect(answer.recommendation).toEqual(answer.working_configurations[0]);
  expect(answer.working_configurations.map(({ evidence: { success_rate } }) => success_rate)).toEqual([1, 0.95]);
  expect(answer.guidance).toMatch("consent dialog");
});

// LOOKUP-22, LOOKUP-27
test("a country that is not allowed is answered as proxy_restricted", async () => {
  const proxy = { type: "residential", residential: { country: "US" } } as const;
  await known("restricted.example", [{ proxy, accessed: 9, blocked: 0 }]);
  const { recommendation, working_configurations } = await lookup("https://restricted.example/", {
    allowed_proxy_countries: ["DE"],
  });
  expect(recommendation).toEqual({
    type: "no_recommendation",
    code: "proxy_restricted",
    message: expect.stringContaining("US"),
  });
  expect(working_configurations).toEqual([]);
});

// LOOKUP-23, LOOKUP-46
test("a target without a working configuration has guidance, and null", async () => {
  await known("closed.example", [{ accessed: 0, blocked: 9 }], { guidance: "It refuses everyone." });
  expect(await lookup("https://closed.example/")).toMatchObject({
    recommendation: null,
    working_configurations: [],
    guidance: "It refuses everyone.",
  });
});

test("of two objects with one target the oldest holds, and the next after its deletion", async () => {
  const first = await known("twice.example", [{ accessed: 3, blocked: 0 }]);
  const second = await known("twice.example", [{ accessed: 7, blocked: 0 }]);
  const sampled = async () => (await lookup("https://twice.example/")).working_configurations[0]?.evidence.sample_size;
  const reason = async ({ metadata: { name } }: SiteConfig) =>
    (await stack.kube.get(siteConfigKind, { name }))?.status?.conditions.map((each) => each.reason).join();
  await eventually(
    "the second one says so",
    async () => (await reason(second)) === "TargetTaken,TargetTaken,TargetTaken",
  );
  expect(await sampled()).toBe(3);
  expect(await reason(first)).toBe("Accepted,Recommended");
  await stack.kube.delete(siteConfigKind, first.metadata);
  await eventually("the second one is used", async () => (await sampled()) === 7);
  await eventually("and says so", async () => (await reason(second)) === "Accepted,Recommended");
});

test.each<[string, object, string]>([
  ["WWW.upper.example", {}, "www.upper.example"],
  ["http.example", { scope: "exact", target: "http://http.example/a/" }, "http://http.example/a"],
  ["sub.domain.example", { scope: "domain" }, "domain.example"],
  ["printer.local", {}, "not public"],
])("an object for %s with %j is refused in its status and not used", async (target, spec, message) => {
  made += 1;
  const metadata = { name: `site-${made}` };
  const evidence = { accessed: 9, blocked: 0, lastObservedAt: "2026-01-02T03:04:05Z" };
  const whole = { scope: "host", target, configurations: [{ evidence }], ...spec };
  await stack.kube.create(siteConfigKind, { metadata, spec: whole } as never);
  const condition = await eventually("its status is there", async () =>
    (await stack.kube.get(siteConfigKind, metadata))?.status?.conditions.find(({ type }) => type === "Accepted"),
  );
  expect(condition).toMatchObject({
    status: "False",
    reason: "InvalidSpec",
    message: expect.stringContaining(message),
  });
});

// LOOKUP-6, LOOKUP-7
test("a lookup resolves no name, and writes nothing to the API server or to Redis", async () => {
  await known("quiet.example", [{ accessed: 3, blocked: 0 }]);
  const kubeCalls = async (): Promise<string[]> => {
    const metrics = await (await stack.call("GET", "/metrics")).text();
    return metrics.split("\n").filter((line) => line.startsWith("browserpool_kube_requests_total{"));
  };
  const kubeWrites = async (): Promise<string[]> =>
    (await kubeCalls()).filter((line) => !/method="(GET|WATCH)"/.test(line));
  const redis = new Redis(stack.redis_url);
  const writes = new Set(
    ((await redis.call("COMMAND", "LIST", "FILTERBY", "ACLCAT", "write")) as string[]).map((name) =>
      name.toLowerCase(),
    ),
  );
  redis.disconnect();
  const before = await kubeWrites();
  expect((await kubeCalls()).join()).toContain('method="WATCH",resource="siteconfigs"');
  await writeFile(resolved, "");
  const told = await watchRedis(stack.redis_url);
  for (let i = 0; i < 50; i++) {
    await lookup(`https://quiet.example/${i}`, {}, { "Idempotency-Key": `lookup-${i}` });
    await lookup(`https://never-seen-${i}.example/`, { allowed_proxy_countries: ["DE"] });
    await stack.call("POST", "/config-registry/lookup", { url: `http://metadata-${i}.internal/` });
  }
  // Whatever a replica might do after its answers.
  await sleep(500);
  told.stop();
  expect(await kubeWrites()).toEqual(before);
  expect(told.lines.filter((line) => writes.has(line.split(" ")[0]?.toLowerCase() ?? ""))).toEqual([]);
  expect(await readFile(resolved, "utf8")).toBe("");
});

describe("a recommendation works as it is", () => {
  // LOOKUP-29, LOOKUP-37
  test("directly", async () => {
    await known("direct.example", [{ accessed: 5, blocked: 0, browser: { headless: true, stealth: true } as never }]);
    const { recommendation } = await lookup("https://direct.example/");
    if (recommendation?.type !== "recommendation") throw new Error("no recommendation");
    const { browser, proxy } = recommendation;
    const session = await stack.kernel.browsers.create({ ...browser, proxy } as never);
    const { port } = site.address() as AddressInfo;
    expect(await visit(session.cdp_ws_url, `http://${own}:${port}/`)).toMatchObject({ title: "shop" });
    await stack.kernel.browsers.deleteByID(session.session_id);
  });

  // LOOKUP-38
  test("through a managed proxy, which is created once", async () => {
    const proxy = { type: "isp", isp: { country: "DE" } } as const;
    await known("proxied.example", [{ accessed: 5, blocked: 0, proxy, browser: { headless: true } as never }]);
    const { recommendation } = await lookup("http://proxied.example/");
    if (recommendation?.type !== "recommendation" || recommendation.proxy.mode !== "managed")
      throw new Error("no managed recommendation");
    const { id = "" } = await stack.kernel.proxies.create(recommendation.proxy.create as never);
    const session = await stack.kernel.browsers.create({ ...recommendation.browser, proxy: { id } } as never);
    expect(await visit(session.cdp_ws_url, "http://proxied.example/")).toMatchObject({ title: "shop" });
    expect(gateway.seen).toContain("GET http://proxied.example/");
    await stack.kernel.browsers.deleteByID(session.session_id);
  });
});

// LOOKUP-92
test("nothing is recommended that this installation refuses, and all that is recommended it takes", async () => {
  const settings = (browser: object) => ({ blocked: 0, browser: browser as never });
  await known("possible.example", [
    { accessed: 9, ...settings({ headless: false, gpu: true }) },
    { accessed: 9, ...settings({ headless: true, gpu: true }) },
    { accessed: 8, ...settings({ headless: true }), proxy: { type: "mobile", mobile: { country: "DE" } } },
    { accessed: 8, ...settings({ headless: true }), proxy: { type: "isp", protocol: "https", isp: { country: "DE" } } },
    { accessed: 7, ...settings({ headless: true }), proxy: { type: "isp", isp: { country: "DE" } } },
    { accessed: 6, ...settings({ headless: true, viewport: { width: 320, height: 200 } }) },
  ]);
  const { working_configurations } = await lookup("https://possible.example/");
  expect(working_configurations.map(({ evidence }) => evidence.accessed)).toEqual([7, 6]);
  for (const { browser, proxy } of working_configurations) {
    const chosen =
      proxy.mode === "direct" ? proxy : { id: (await stack.kernel.proxies.create(proxy.create as never)).id };
    const session = await stack.kernel.browsers.create({ ...browser, proxy: chosen } as never);
    await stack.kernel.browsers.deleteByID(session.session_id);
  }
});

// LOOKUP-2, LOOKUP-3, LOOKUP-8
test("no URL is too hostile: it is refused by name or looked up", async () => {
  expect(hostileUrls.length).toBeGreaterThanOrEqual(200);
  const statuses = new Map<number, number>();
  for (const url of hostileUrls) {
    const response = await stack.call("POST", "/config-registry/lookup", { url });
    const body = (await response.json()) as { code?: string; target?: { normalized: string } };
    expect([200, 400], url.slice(0, 200)).toContain(response.status);
    if (response.status === 400) expect(body.code).toBe("bad_request");
    else expect((await lookup(body.target?.normalized ?? "")).target).toEqual(body.target);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  expect([...statuses.keys()].sort()).toEqual([200, 400]);
});

test("what is known stays when the service starts anew", async () => {
  await known("lasting.example", [{ accessed: 3, blocked: 0 }]);
  const { dataDir } = stack;
  await stack.stop();
  await stack.kube.close();
  stack = await startLocalStack({ dataDir });
  expect((await lookup("https://lasting.example/")).recommendation).toMatchObject({
    matched_target: "lasting.example",
  });
});

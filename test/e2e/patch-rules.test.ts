/** The rules of the pool update (the POOL-PATCH rules) as a caller sees them; each test cites its rule. */
import type { BrowserPool as WirePool } from "@onkernel/sdk/resources/browser-pools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowserPool, browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { presentSize } from "../../src/core/model/pools/pool-size.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { emptyPool, fastest, filledPool, untilAvailable } from "../support/filled-pool.ts";
import { cookieOf, evaluate, setCookie, withCdp } from "../support/raw-cdp.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Config = Record<string, unknown>;
type Answer = { status: number; config: Config; details: { path?: string }[]; body: WirePool };

const patch = async (id: string, body: object): Promise<Answer> => {
  const response = await stack.call("PATCH", `/browser_pools/${id}`, body);
  const answer = (await response.json()) as WirePool & { details?: { path?: string }[] };
  return {
    status: response.status,
    config: (answer.browser_pool_config ?? {}) as unknown as Config,
    details: answer.details ?? [],
    body: answer,
  };
};

const configOf = async (id: string): Promise<Config> =>
  (await stack.kernel.browserPools.retrieve(id)).browser_pool_config as unknown as Config;

/** Patches, and expects the same pool from the answer and from a later read. */
const patched = async (id: string, body: object): Promise<Config> => {
  const { status, config, details } = await patch(id, body);
  expect({ status, details }).toMatchObject({ status: 200 });
  expect(await configOf(id)).toEqual(config);
  return config;
};

/** Patches, and expects a refusal that names the field and changes nothing. */
const refused = async (id: string, body: object, path: string, wanted = 400): Promise<void> => {
  const before = await configOf(id);
  const { status, details } = await patch(id, body);
  expect({ status, paths: details.map((detail) => detail.path) }).toEqual({ status: wanted, paths: [path] });
  expect(await configOf(id)).toEqual(before);
};

const newPool = async (params: object = {}): Promise<string> => (await emptyPool(stack.kernel, params)).id;

/** A pool written as YAML: it may use fields for which this version has no HTTP operations. */
const yamlPool = async (spec: object): Promise<string> => {
  const metadata = { name: newId(), namespace: stack.namespace };
  const object = { metadata, spec: { size: 1, fillRatePerMinute: 0, headless: true, ...spec } };
  await stack.kube.create(browserPoolKind, object as BrowserPool);
  return metadata.name;
};

describe("a PATCH of a pool", () => {
  // POOL-PATCH-15, POOL-PATCH-16
  test("changes the given fields and nothing else", async () => {
    const id = await newPool({ start_url: "https://a.test", chrome_policy: { PrintingEnabled: false } });
    const before = await configOf(id);
    expect(await patched(id, { stealth: true, timeout_seconds: 99 })).toEqual({
      ...before,
      stealth: true,
      timeout_seconds: 99,
    });
    expect(await patched(id, {})).toEqual({ ...before, stealth: true, timeout_seconds: 99 });
  });

  // POOL-PATCH-1
  test("ignores save_changes inside profile (1)", async () => {
    const id = await yamlPool({ profile: { name: "work" } });
    expect(await patched(id, { profile: { name: "work", save_changes: true } })).toMatchObject({
      profile: { name: "work" },
    });
    expect(await patched(id, { profile: { id: "", save_changes: true } })).not.toHaveProperty("profile");
  });

  // POOL-PATCH-2
  test.each([{ id: "" }, { name: "" }])(
    "clears the profile by %j, and refresh_on_profile_update with it (2)",
    async (profile) => {
      const id = await yamlPool({ profile: { name: "work" }, refreshOnProfileUpdate: true });
      const config = await patched(id, { profile });
      expect(config).not.toHaveProperty("profile");
      expect(config.refresh_on_profile_update).toBe(false);
      await refused(id, { profile: {} }, "profile");
    },
  );

  // POOL-PATCH-3, EXTENSION-1
  test("replaces the list of extensions, and an empty one clears it (3)", async () => {
    const id = await yamlPool({ extensions: [{ name: "a" }, { id: "b" }] });
    expect((await patched(id, { size: 2 })).extensions).toEqual([{ name: "a" }, { id: "b" }]);
    expect((await patched(id, { extensions: [{ id: "b" }] })).extensions).toEqual([{ id: "b" }]);
    await refused(id, { extensions: [{ id: "b" }, { name: "new" }] }, "extensions[1]", 404);
    expect(await patched(id, { extensions: [] })).not.toHaveProperty("extensions");
  });

  // POOL-PATCH-4, POOL-PATCH-16
  test("replaces the Chrome policy, and an empty one clears it (4)", async () => {
    const id = await newPool({ chrome_policy: { PrintingEnabled: false, URLBlocklist: ["a.test"] } });
    expect((await patched(id, { size: 2 })).chrome_policy).toEqual({
      PrintingEnabled: false,
      URLBlocklist: ["a.test"],
    });
    expect((await patched(id, { chrome_policy: { PrintingEnabled: true } })).chrome_policy).toEqual({
      PrintingEnabled: true,
    });
    await refused(id, { chrome_policy: { ExtensionInstallForcelist: [] } }, "chrome_policy.ExtensionInstallForcelist");
    expect(await patched(id, { chrome_policy: {} })).not.toHaveProperty("chrome_policy");
  });

  // POOL-PATCH-5, PROXY-1
  test("clears proxy_id by an empty string (5)", async () => {
    const id = await yamlPool({ proxyId: "somewhere" });
    expect((await patched(id, { size: 2 })).proxy_id).toBe("somewhere");
    expect(await patched(id, { proxy_id: "" })).not.toHaveProperty("proxy_id");
    await refused(id, { proxy_id: "nowhere" }, "proxy_id", 404);
  });

  // POOL-PATCH-6
  test("clears start_url by an empty string (6)", async () => {
    const id = await newPool({ start_url: "https://a.test" });
    expect((await patched(id, { start_url: "https://b.test" })).start_url).toBe("https://b.test");
    expect((await patched(id, { size: 2 })).start_url).toBe("https://b.test");
    expect(await patched(id, { start_url: "" })).not.toHaveProperty("start_url");
  });

  // POOL-PATCH-7
  test("reads an empty name as no name (7)", async () => {
    const name = `n-${newId()}`;
    const id = await newPool({ name });
    expect((await patched(id, { name: "" })).name).toBe(name);
    expect((await stack.kernel.browserPools.retrieve(name)).id).toBe(id);
    expect((await patched(id, { name: `${name}-2` })).name).toBe(`${name}-2`);
  });

  // POOL-PATCH-8, BROWSER-12
  test("replaces the viewport whole, and can't clear it (8)", async () => {
    const id = await newPool({ viewport: { width: 800, height: 600, refresh_rate: 30 } });
    await refused(id, { viewport: null }, "viewport");
    await refused(id, { viewport: { width: 800 } }, "viewport.height");
    expect((await patched(id, { viewport: { width: 1024, height: 768 } })).viewport).toEqual({
      width: 1024,
      height: 768,
    });
    expect((await patched(id, { size: 2 })).viewport).toEqual({ width: 1024, height: 768 });
  });

  // POOL-PATCH-9, NETWORK-4
  test("replaces the network block, an empty one removes it, an empty list stays a list (9)", async () => {
    const id = await newPool({ network: { allowed_hosts: ["a.test"], private_hosts: ["10.0.0.0/8"] } });
    expect((await patched(id, { network: { private_hosts: [] } })).network).toEqual({ private_hosts: [] });
    expect((await patched(id, { size: 2 })).network).toEqual({ private_hosts: [] });
    await refused(id, { network: { private_hosts: ["169.254.1.1"] } }, "network.private_hosts[0]");
    expect(await patched(id, { network: {} })).not.toHaveProperty("network");
  });

  // POOL-PATCH-10
  test("accepts refresh_on_profile_update only with a profile, and keeps it when the same profile is sent (10)", async () => {
    const id = await yamlPool({ profile: { name: "work" }, refreshOnProfileUpdate: false });
    expect((await patched(id, { profile: { name: "work" } })).refresh_on_profile_update).toBe(false);
    expect((await patched(id, { refresh_on_profile_update: true })).refresh_on_profile_update).toBe(true);
    await refused(await newPool(), { refresh_on_profile_update: true }, "refresh_on_profile_update");
  });

  // POOL-PATCH-11, TELEMETRY-2, TELEMETRY-3, TELEMETRY-4
  test("merges telemetry: null and {} keep it, enabled: false clears it (11)", async () => {
    const id = await newPool();
    const on = (config: Config): string[] => {
      const { browser = {} } = (config.telemetry ?? {}) as { browser?: Record<string, { enabled: boolean }> };
      return Object.keys(browser).filter((category) => browser[category]?.enabled);
    };
    const standard = ["captcha", "connection", "control", "system"];
    expect(on(await patched(id, { telemetry: { enabled: true } })).sort()).toEqual(standard);
    const more = [...standard, "page"].sort();
    expect(on(await patched(id, { telemetry: { browser: { page: { enabled: true } } } })).sort()).toEqual(more);
    for (const telemetry of [undefined, null, {}]) expect(on(await patched(id, { telemetry })).sort()).toEqual(more);
    expect(on(await patched(id, { telemetry: { enabled: true } })).sort()).toEqual(standard);
    await refused(id, { telemetry: { enabled: false, browser: { page: { enabled: true } } } }, "telemetry.browser");
    expect(await patched(id, { telemetry: { enabled: false } })).not.toHaveProperty("telemetry");
  });

  // POOL-PATCH-12, LIMIT-2
  test("keeps the sum of all sizes within the organization's limit (12)", async () => {
    const id = await newPool();
    const used = (await stack.kube.list(browserPoolKind)).items.reduce((sum, pool) => sum + presentSize(pool), 0);
    await refused(id, { size: 50 - used + 2 }, "size");
    expect((await patched(id, { size: 50 - used + 1 })).size).toBe(50 - used + 1);
    await patched(id, { size: 1 });
  });

  // POOL-PATCH-12, LIMIT-2, LIMIT-21
  test("lets one of two through that would exceed that limit together (12)", async () => {
    const ids = [await newPool(), await newPool()];
    const used = (await stack.kube.list(browserPoolKind)).items.reduce((sum, pool) => sum + presentSize(pool), 0);
    const size = 50 - used + 1;
    const answers = await Promise.all(ids.map((id) => patch(id, { size })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    for (const id of ids) await patched(id, { size: 1 });
  });

  // POOL-PATCH-17
  test("may be sent by several callers at once, and loses none of the changes", async () => {
    const id = await newPool();
    const changes = [
      { stealth: true },
      { kiosk_mode: true },
      { timeout_seconds: 77 },
      { start_url: "https://c.test" },
      { memory: "16GiB" },
      { name: `n-${newId()}` },
    ];
    const answers = await Promise.all(changes.map((change) => patch(id, change)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect(await configOf(id)).toMatchObject(Object.assign({}, ...changes));
  });
});

describe("browsers of a pool whose configuration changes", () => {
  const small = { width: 800, height: 600 };
  const large = { width: 1024, height: 768 };
  let id: string;
  beforeAll(async () => {
    id = (await filledPool(stack.kernel, { size: 3, viewport: small })).id;
  });

  const acquire = async () => {
    const session = await stack.kernel.browserPools.acquire(id, { acquire_timeout_seconds: 30 });
    const width = await withCdp(session.cdp_ws_url, (cdp) => evaluate(cdp, "innerWidth"));
    return { ...session, width };
  };
  const release = (session_id: string) => stack.kernel.browserPools.release(id, { session_id });

  // POOL-PATCH-13, BROWSER-15
  test("keep the configuration that made them: idle ones too (13)", async () => {
    await patched(id, { viewport: large });
    const session = await acquire();
    expect(session).toMatchObject({ viewport: small, width: small.width });
    await release(session.session_id);
  });

  // POOL-PATCH-14, FILL-RATE-5, LEASE-27
  test("are discarded by discard_all_idle and rebuilt at once, whatever the rate; a browser in use keeps its configuration (14)", async () => {
    await patched(id, { viewport: small, fill_rate_per_minute: 25, discard_all_idle: false });
    const held = await acquire();
    await withCdp(held.cdp_ws_url, (cdp) => setCookie(cdp, "held", "yes"));
    // At this rate the next start is 80 s after the last one, so the rate alone can't start two new browsers.
    await patched(id, { viewport: large, discard_all_idle: true });
    await eventually("all idle browsers are new", async () => {
      const pool = (await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: id })) as BrowserPool;
      return pool.status?.available === 2 && pool.status.outdated === 0;
    });
    expect(await withCdp(held.cdp_ws_url, (cdp) => cookieOf(cdp, "held"))).toBe("yes");

    const rebuilt = [await acquire(), await acquire()];
    for (const session of rebuilt) expect(session).toMatchObject({ viewport: large, width: large.width });

    await release(held.session_id);
    const again = await acquire();
    expect(again).toMatchObject({ viewport: small, width: small.width });
    expect(await withCdp(again.cdp_ws_url, (cdp) => cookieOf(cdp, "held"))).toBeUndefined();
    for (const { session_id } of [...rebuilt, again]) await release(session_id);
  });

  // POOL-PATCH-14
  test("are discarded by a later discard_all_idle when they were released with an old configuration (14)", async () => {
    await patched(id, { discard_all_idle: true });
    const sessions = [];
    for (let i = 0; i < 3; i++) sessions.push(await acquire());
    for (const session of sessions) expect(session).toMatchObject({ viewport: large, width: large.width });
    for (const { session_id } of sessions) await release(session_id);
  });

  // POOL-PATCH-14
  test("are replaced by a flush, at the rate of the pool", async () => {
    await patched(id, { viewport: small, fill_rate_per_minute: fastest });
    await stack.kernel.browserPools.flush(id);
    expect(await acquire()).toMatchObject({ viewport: small, width: small.width });
    await untilAvailable(stack.kernel, id, 2);
  });
});

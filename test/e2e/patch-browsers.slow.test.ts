/**
 * When a PATCH of a pool reaches its browsers (POOL-PATCH-13, POOL-PATCH-14), seen in them. Needs servers on this
 * machine.
 */
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { filledPool, type PoolParams, untilAvailable, untilFresh } from "../support/filled-pool.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { loginArchive, saveVersion } from "../support/saved-profile.ts";
import { blockedHosts, type SettingsSite, startSettingsSite } from "../support/settings-seen.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

const extensions = ["first", "second"];
const parts = new AsyncDisposableStack();
let stack: LocalProject;
let site: SettingsSite;
let oldConfig: PoolParams;

beforeAll(async () => {
  stack = parts.use(await startProject());
  site = parts.use(await startSettingsSite(extensions));
  const { kernel } = stack;
  for (const name of extensions)
    await kernel.extensions.upload({ name, file: await toFile(markingExtension(name), `${name}.zip`) });
  const profile = await kernel.profiles.create({ name: "work" });
  await saveVersion(profile.id, await loginArchive("at work"), stack);
  const proxy = await kernel.proxies.create(site.proxy as never);
  oldConfig = {
    extensions: [{ name: "first" }],
    chrome_policy: { URLBlocklist: [...blockedHosts] },
    proxy_id: proxy.id ?? "",
    profile: { name: "work" },
    viewport: { width: 800, height: 600 },
    memory: "8GiB",
  };
});
afterAll(() => parts.disposeAsync());

const old = {
  page: "hello",
  marks: ["first"],
  forbidden: [...blockedHosts],
  proxied: true,
  login: "at work",
  width: 800,
};

const newConfig = {
  extensions: [{ name: "second" }],
  chrome_policy: {},
  proxy_id: "",
  profile: { id: "" },
  network: { allowed_hosts: [] },
  viewport: { width: 1024, height: 768 },
  memory: "16GiB",
  telemetry: { enabled: true },
};
const fresh = {
  page: "the host is not in allowed_hosts",
  marks: ["second"],
  forbidden: [],
  proxied: false,
  login: undefined,
  width: 1024,
};

describe("of a pool of headful browsers", () => {
  let id: string;
  const acquire = () => stack.kernel.browserPools.acquire(id, { acquire_timeout_seconds: 60 });
  type Session = Awaited<ReturnType<typeof acquire>>;
  /** What the first test leaves in use. */
  let taken: Session[];
  const acquireWhenIdle = async (count: number): Promise<Session[]> => {
    await untilAvailable(stack.kernel, id, count);
    return Promise.all(Array.from({ length: count }, acquire));
  };
  const release = async (...sessions: Session[]): Promise<void> => {
    for (const { session_id } of sessions) await stack.kernel.browserPools.release(id, { session_id, reuse: true });
  };

  /** Expects each browser to show the configuration of its session whole; returns how many have the old one. */
  const countOld = async (...sessions: Session[]): Promise<number> => {
    let count = 0;
    for (const { cdp_ws_url, viewport, telemetry } of sessions) {
      const isOld = viewport?.width === old.width;
      await site.expect(cdp_ws_url, isOld ? old : fresh);
      // TELEMETRY-12
      expect(telemetry === undefined).toBe(isOld);
      if (isOld) count += 1;
    }
    return count;
  };

  /** The memory limits of the pool's pods. */
  const memory = async (): Promise<unknown[]> => {
    const { items } = await stack.kube.list(pods, { namespace: stack.namespace });
    const limits = items
      .filter(({ metadata }) => metadata.name.startsWith(id) && !metadata.deletionTimestamp)
      .map(({ spec }) => spec?.containers[0]?.resources?.limits?.memory);
    return limits.sort();
  };

  // POOL-PATCH-13, POOL-PATCH-14, NETWORK-9, PROXY-10, EXTENSION-3, PROFILE-3, POOL-19, POOL-21
  test("browsers that run keep every setting, also over a release; those that start later have the new ones", async () => {
    ({ id } = await filledPool(stack.kernel, { size: 2, headless: false, ...oldConfig }));
    const held = await acquire();
    await stack.kernel.browserPools.update(id, { ...newConfig, size: 3 } as never);
    const free = await acquireWhenIdle(2);
    expect(await countOld(held, ...free)).toBe(2);
    expect(await memory()).toEqual(["16Gi", "8Gi", "8Gi"]);

    await release(held, ...free);
    taken = await acquireWhenIdle(3);
    expect(await countOld(...taken)).toBe(2);
  }, 180_000);

  // POOL-PATCH-14
  test("discard_all_idle renews the idle ones; the one in use keeps its settings, and is discarded later by a flush", async () => {
    const held = taken.find(({ viewport }) => viewport?.width === old.width);
    if (!held) throw new Error("no browser has the old configuration");
    await release(...taken.filter((session) => session !== held));
    await untilAvailable(stack.kernel, id, 2);
    await stack.kernel.browserPools.update(id, { discard_all_idle: true });
    await untilFresh(stack, id, 2);
    const renewed = await acquireWhenIdle(2);
    expect(await countOld(...renewed)).toBe(0);
    expect(await countOld(held)).toBe(1);

    await release(...renewed, held);
    const again = await acquireWhenIdle(3);
    expect(await countOld(...again)).toBe(1);
    await release(...again);
    await untilAvailable(stack.kernel, id, 3);
    await stack.kernel.browserPools.flush(id);
    await untilFresh(stack, id, 3);
    const last = await acquireWhenIdle(3);
    expect(await countOld(...last)).toBe(0);
    expect(await memory()).toEqual(["16Gi", "16Gi", "16Gi"]);
    await stack.kernel.browserPools.delete(id, { force: true });
  }, 180_000);
});

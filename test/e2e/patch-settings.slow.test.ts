/**
 * The POOL-PATCH rules about replacing, clearing and keeping single settings, seen in the browsers. Needs servers on
 * this machine.
 */
import { toFile } from "@onkernel/sdk";
import { afterAll, beforeAll, describe, onTestFinished, test } from "vitest";
import { filledPool, type PoolParams, untilFresh } from "../support/filled-pool.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { blockedHosts, type Seen, type SettingsSite, startSettingsSite } from "../support/settings-seen.ts";
import { type LocalProject, startProject } from "../support/stack.ts";
import { ownPrivateAddress } from "../support/wall/machine.ts";

const extensions = ["first", "second"];
const parts = new AsyncDisposableStack();
let stack: LocalProject;
let site: SettingsSite;
beforeAll(async () => {
  stack = parts.use(await startProject());
  site = parts.use(await startSettingsSite(extensions));
  for (const name of extensions)
    await stack.kernel.extensions.upload({ name, file: await toFile(markingExtension(name), `${name}.zip`) });
});
afterAll(() => parts.disposeAsync());

/** A pool of one browser that a test patches. It is deleted after the test. */
const patchedPool = async (params: PoolParams) => {
  const { browserPools } = stack.kernel;
  const { id } = await filledPool(stack.kernel, params);
  onTestFinished(() => browserPools.delete(id, { force: true }));
  const lease = async <T>(look: (cdpUrl: string) => Promise<T>): Promise<T> => {
    const { cdp_ws_url, session_id } = await browserPools.acquire(id, { acquire_timeout_seconds: 60 });
    const result = await look(cdp_ws_url);
    await browserPools.release(id, { session_id });
    return result;
  };
  return {
    lease,
    /** Expects this of its browser. */
    shows: (expected: Partial<Seen>) => lease((url) => site.expect(url, expected)),
    /** Changes it, and waits for a browser that has started after that. */
    async change(body: object): Promise<void> {
      await browserPools.update(id, { ...body, discard_all_idle: true } as never);
      await untilFresh(stack, id, 1);
    },
  };
};

// POOL-PATCH-3, EXTENSION-3
test("extensions are replaced, stay when they are left out, and are cleared by an empty list (3)", async () => {
  const { id: second } = await stack.kernel.extensions.get("second");
  const pool = await patchedPool({ extensions: [{ name: "first" }, { name: "second" }] });
  await pool.shows({ marks: ["first", "second"] });
  await pool.change({ extensions: [{ id: second }] });
  await pool.change({ kiosk_mode: true });
  await pool.shows({ marks: ["second"] });
  await pool.change({ extensions: [] });
  await pool.shows({ marks: [] });
}, 120_000);

// POOL-PATCH-4, POOL-19
test("a Chrome policy is replaced whole, stays when it is left out, and is cleared by an empty object (4)", async () => {
  const [first, second] = blockedHosts;
  const pool = await patchedPool({ chrome_policy: { URLBlocklist: [first], PrintingEnabled: false } });
  await pool.shows({ forbidden: [first] });
  await pool.change({ chrome_policy: { URLBlocklist: [second] } });
  await pool.change({ kiosk_mode: true });
  await pool.shows({ forbidden: [second] });
  await pool.change({ chrome_policy: {} });
  await pool.shows({ forbidden: [] });
}, 120_000);

// POOL-PATCH-5, PROXY-10
test("a proxy stays when it is left out, and is cleared by an empty id (5)", async () => {
  const { id = "" } = await stack.kernel.proxies.create(site.proxy as never);
  const pool = await patchedPool({});
  await pool.shows({ page: "hello", proxied: false });
  await pool.change({ proxy_id: id });
  await pool.change({ kiosk_mode: true });
  await pool.shows({ page: "hello", proxied: true });
  await pool.change({ proxy_id: "" });
  await pool.shows({ page: "hello", proxied: false });
  await stack.kernel.proxies.delete(id);
}, 120_000);

describe("a network block (9)", () => {
  // POOL-PATCH-9, NETWORK-9
  test("is replaced whole, stays when it is left out, and is removed by an empty object", async () => {
    const pool = await patchedPool({ network: { allowed_hosts: ["other.test"], private_hosts: [] } });
    await pool.shows({ page: "the host is not in allowed_hosts" });
    await pool.change({ network: { private_hosts: [site.host] } });
    await pool.shows({ page: "hello" });
    await pool.change({ network: { allowed_hosts: ["other.test"] } });
    await pool.change({ kiosk_mode: true });
    await pool.shows({ page: "the host is not in allowed_hosts" });
    await pool.change({ network: {} });
    await pool.shows({ page: "hello" });
  }, 120_000);

  // POOL-PATCH-9, NETWORK-4, NETWORK-7
  test.runIf(ownPrivateAddress)(
    "may have an empty list, which leaves no private range",
    async () => {
      const pool = await patchedPool({ network: { allowed_hosts: ["*"] } });
      await pool.shows({ page: "hello" });
      await pool.change({ network: { private_hosts: [] } });
      await pool.change({ kiosk_mode: true });
      await pool.shows({ page: "the address is private and not in private_hosts" });
    },
    120_000,
  );
});

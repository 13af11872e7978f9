/**
 * The POOL-PATCH rules about a pool's profile (1, 2, 10), seen in the browsers. Needs a store of blobs on this machine.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { browserPoolKind } from "../../src/core/model/pools/browser-pool.ts";
import { newId } from "../../src/core/objects/new-id.ts";
import { profileKind } from "../../src/features/profiles/profile.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool, type PoolParams, untilAvailable, untilFresh } from "../support/filled-pool.ts";
import { cookieOf, setCookie, withCdp } from "../support/raw-cdp.ts";
import { loginArchive, saveVersion } from "../support/saved-profile.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
/** Contents of profiles: who is logged in there. */
let [ann, ben]: Buffer[] = [];
beforeAll(async () => {
  stack = await startProject();
  [ann, ben] = [await loginArchive("ann"), await loginArchive("ben")];
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const save = (id: string, archive: Buffer | undefined) => saveVersion(id, archive as Buffer, stack);

/** A profile in which Ann is logged in. */
const newProfile = async () => {
  const profile = await stack.kernel.profiles.create({ name: `n-${newId()}` });
  await save(profile.id, ann);
  return { id: profile.id, name: profile.name ?? "" };
};

/** A pool that a test patches. It is deleted after the test. */
const profilePool = async (params: PoolParams) => {
  const { browserPools } = stack.kernel;
  const { id } = await filledPool(stack.kernel, params);
  onTestFinished(() => browserPools.delete(id, { force: true }));
  const acquire = async () => {
    const session = await browserPools.acquire(id, { acquire_timeout_seconds: 60 });
    return {
      login: () => withCdp(session.cdp_ws_url, (cdp) => cookieOf(cdp, "login")),
      logInAs: (name: string) => withCdp(session.cdp_ws_url, (cdp) => setCookie(cdp, "login", name)),
      release: (reuse = true) => browserPools.release(id, { session_id: session.session_id, reuse }),
    };
  };
  return {
    id,
    acquire,
    patch: (body: object) => browserPools.update(id, body as never),
    /** Who is logged in in the pool's idle browsers. */
    async logins(count = 1): Promise<(string | undefined)[]> {
      await untilAvailable(stack.kernel, id, count);
      const sessions = await Promise.all(Array.from({ length: count }, acquire));
      const found = await Promise.all(sessions.map((session) => session.login()));
      for (const session of sessions) await session.release();
      return found.sort();
    },
    async config(): Promise<{ profile: unknown; refresh: unknown }> {
      const { browser_pool_config } = await browserPools.retrieve(id);
      const { profile, refresh_on_profile_update } = browser_pool_config as unknown as Record<string, unknown>;
      return { profile, refresh: refresh_on_profile_update };
    },
    /** The names of its browsers. */
    async browsers(): Promise<string[]> {
      const { items } = await stack.kube.list(pods, { namespace: stack.namespace });
      return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(id));
    },
    async refuses(body: object, path: string): Promise<void> {
      const before = await browserPools.retrieve(id);
      const response = await stack.call("PATCH", `/browser_pools/${id}`, body);
      const { details } = (await response.json()) as { details: { path: string }[] };
      expect([response.status, details?.map((detail) => detail.path)]).toEqual([400, [path]]);
      expect(await browserPools.retrieve(id)).toEqual(before);
    },
  };
};

// POOL-PATCH-1, PROFILE-3, PROFILE-4
test.each(["reset", "keep"] as const)(
  "browsers start with the profile and never write to it, whatever save_changes says, with the reuse policy %s (1)",
  async (reuse_policy) => {
    const { id, name } = await newProfile();
    const profile = { name, save_changes: true };
    const pool = await profilePool({ reuse_policy, profile });
    await pool.patch({ profile, timeout_seconds: 60 });
    expect(await pool.config()).toEqual({ profile: { name }, refresh: true });

    const session = await pool.acquire();
    expect(await session.login()).toBe("ann");
    await session.logInAs("mallory");
    await session.release();
    expect(await pool.logins()).toEqual([reuse_policy === "reset" ? "ann" : "mallory"]);
    const again = await pool.acquire();
    await again.logInAs("mallory");
    await again.release(false);
    expect(await pool.logins()).toEqual(["ann"]);

    const stored = await stack.kube.get(profileKind, { namespace: stack.namespace, name: id });
    expect(stored?.status).toMatchObject({ version: 1, claimedVersion: 1 });
    const folder = join(stack.dataDir, "blobs", "profiles", stack.namespace, id);
    expect(await readdir(folder)).toEqual([stored?.status?.archive]);
  },
  120_000,
);

// POOL-PATCH-2
test.each([{ id: "" }, { name: "" }])(
  "%j clears the profile: browsers that start later are logged in nowhere (2)",
  async (profile) => {
    const { id, name } = await newProfile();
    const pool = await profilePool({ profile: { name } });
    await pool.refuses({ profile: {}, discard_all_idle: true }, "profile");
    await pool.patch({ profile });
    expect(await pool.config()).toEqual({ profile: undefined, refresh: false });
    expect(await pool.logins()).toEqual(["ann"]);
    await pool.patch({ discard_all_idle: true });
    await untilFresh(stack, pool.id, 1);
    expect(await pool.logins()).toEqual([undefined]);
    await stack.kernel.profiles.delete(id);
  },
  120_000,
);

describe("refresh_on_profile_update (10)", () => {
  // POOL-PATCH-10, PROFILE-6
  test("renews idle browsers when their profile has a new version, and never one in use", async () => {
    const { id, name } = await newProfile();
    const on = await profilePool({ size: 2, profile: { name } });
    const off = await profilePool({ profile: { id } });
    await off.patch({ refresh_on_profile_update: false });
    const before = { on: await on.browsers(), off: await off.browsers() };
    const held = await on.acquire();
    await save(id, ben);
    await eventually("another browser is there", async () =>
      (await on.browsers()).some((one) => !before.on.includes(one)),
    );
    expect(await on.logins()).toEqual(["ben"]);
    expect(await held.login()).toBe("ann");
    await held.release();
    expect(await on.logins(2)).toEqual(["ann", "ben"]);
    expect([await off.browsers(), await off.logins()]).toEqual([before.off, ["ann"]]);
    await stack.kernel.browserPools.flush(on.id);
    await eventually("the one from before is gone", async () =>
      (await on.browsers()).every((one) => !before.on.includes(one)),
    );
    expect(await on.logins(2)).toEqual(["ben", "ben"]);
  }, 120_000);

  // POOL-PATCH-10, PROFILE-6
  test("stays when the same profile is named in another way; another profile turns it on, for its next version", async () => {
    const [work, home] = [await newProfile(), await newProfile()];
    const pool = await profilePool({ profile: { name: work.name }, refresh_on_profile_update: false });
    const [browser] = await pool.browsers();
    await pool.patch({ profile: { id: work.id } });
    expect(await pool.config()).toEqual({ profile: { id: work.id }, refresh: false });
    await pool.patch({ profile: { name: home.name } });
    expect(await pool.config()).toEqual({ profile: { name: home.name }, refresh: true });
    // Another profile is no new version: the idle browser is outdated, and stays.
    await eventually("it is seen as outdated", async () => {
      const stored = await stack.kube.get(browserPoolKind, { namespace: stack.namespace, name: pool.id });
      const { metadata, status } = stored ?? {};
      return status?.observedGeneration === metadata?.generation && status?.outdated === 1;
    });
    expect(await pool.browsers()).toEqual([browser]);
    await save(home.id, ben);
    await eventually("it is renewed", async () => !(await pool.browsers()).includes(browser ?? ""));
    expect(await pool.logins()).toEqual(["ben"]);
    await pool.patch({ profile: { id: work.id }, refresh_on_profile_update: false });
    expect(await pool.config()).toEqual({ profile: { id: work.id }, refresh: false });
  }, 120_000);

  // POOL-PATCH-10
  test("is refused without a profile", async () => {
    const { name } = await newProfile();
    const pool = await profilePool({ profile: { name } });
    const cleared = { profile: { name: "" }, refresh_on_profile_update: true };
    await pool.refuses(cleared, "refresh_on_profile_update");
    await pool.patch({ profile: { name: "" } });
    await pool.refuses({ refresh_on_profile_update: true, discard_all_idle: true }, "refresh_on_profile_update");
    expect(await pool.logins()).toEqual(["ann"]);
  });
});

/** A browser of a pool that loads a profile for the one who acquires it. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newId } from "../../src/core/objects/new-id.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool, type PoolParams } from "../support/filled-pool.ts";
import { cookieOf, tabUrls, withCdp } from "../support/raw-cdp.ts";
import { loginArchive, saveVersion } from "../support/saved-profile.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let ann: string;
const newProfile = async (): Promise<string> => {
  const { id } = await stack.kernel.profiles.create({ name: `n-${newId()}` });
  return id;
};
beforeAll(async () => {
  stack = await startProject();
  ann = await newProfile();
  await saveVersion(ann, await loginArchive("ann"), stack);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

type Answer = { session_id: string; cdp_ws_url: string; profile?: { id?: string }; start_url?: string; code?: string };

const newPool = async (params: PoolParams = {}): Promise<string> => {
  const { id } = await filledPool(stack.kernel, params);
  onTestFinished(() => stack.kernel.browserPools.delete(id, { force: true }));
  return id;
};
const acquire = async (pool: string, body: object): Promise<{ status: number; body: Answer }> => {
  const response = await stack.call("POST", `/browser_pools/${pool}/acquire`, { acquire_timeout_seconds: 60, ...body });
  return { status: response.status, body: (await response.json()) as Answer };
};
const loginOf = ({ cdp_ws_url }: Answer): Promise<string | undefined> =>
  withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "login"));
const blank = "data:text/html,started";

// LEASE-67
test.each(["reset", "keep"] as const)(
  "its browser is logged in and has the start URL open; the next holder finds neither, with the reuse policy %s",
  async (reuse_policy) => {
    const pool = await newPool({ reuse_policy });
    const { status, body } = await acquire(pool, { profile: { id: ann }, start_url: blank });
    expect([status, body.profile?.id, body.start_url]).toEqual([200, ann, blank]);
    expect(await loginOf(body)).toBe("ann");
    await eventually("the start URL is open", () =>
      withCdp(body.cdp_ws_url, async (cdp) => (await tabUrls(cdp)).includes(blank)),
    );
    const second = await stack.call("PATCH", `/browsers/${body.session_id}`, { profile: { id: await newProfile() } });
    expect(second.status).toBe(409);
    await stack.kernel.browserPools.release(pool, { session_id: body.session_id });
    const next = await acquire(pool, {});
    expect([next.status, next.body.profile, await loginOf(next.body)]).toEqual([200, undefined, undefined]);
  },
);

// LEASE-67
test("a profile that can't be loaded is refused before anybody waits, and no browser is taken", async () => {
  const pool = await newPool();
  const held = await acquire(pool, {});
  const startMs = performance.now();
  expect(await acquire(pool, { profile: { id: newId() } })).toMatchObject({ status: 404, body: { code: "not_found" } });
  for (const profile of [{}, { id: ann, name: "both" }, { id: ann, save_changes: true }])
    expect((await acquire(pool, { profile })).status).toBe(400);
  expect(performance.now() - startMs).toBeLessThan(30_000);
  await stack.kernel.browserPools.release(pool, { session_id: held.body.session_id });
  const withProfile = await newPool({ profile: { id: ann } });
  expect(await acquire(withProfile, { profile: { id: ann } })).toMatchObject({
    status: 409,
    body: { code: "conflict" },
  });
  expect((await stack.kernel.browserPools.retrieve(withProfile)).acquired_count).toBe(0);
});

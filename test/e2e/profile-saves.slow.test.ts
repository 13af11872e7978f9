/** Browsers that save their profile at their end, and what the next ones find there. */
import { readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Browser, browserKind } from "../../src/core/model/browsers/browser.ts";
import { type Profile, profileKind } from "../../src/features/profiles/profile.ts";
import type { Condition } from "../../src/platform/kinds/conditions.ts";
import { events, pods } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LoginSite, loginSite } from "../support/login-site.ts";
import { type LocalProject, startProject } from "../support/stack.ts";

let stack: LocalProject;
let namespace: string;
let site: LoginSite;
beforeAll(async () => {
  stack = await startProject();
  ({ namespace } = stack);
  site = await loginSite();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const loggedIn = { cookies: ["day=1", "session=1"], stored: "locally", indexed: "indexed", answer: "the worker" };

let made = 0;
const newProfile = async (): Promise<string> => {
  made += 1;
  const name = `saved-${made}`;
  await stack.kernel.profiles.create({ name });
  return name;
};
const profileOf = async (name: string): Promise<Profile> => {
  const { id } = await stack.kernel.profiles.retrieve(name);
  const profile = await stack.kube.get(profileKind, { namespace, name: id });
  if (!profile) throw new Error(`no profile ${id}`);
  return profile;
};
const versionOf = async (name: string): Promise<number> => (await profileOf(name)).status?.version ?? 0;

type Settings = { headless?: boolean; save_changes?: boolean; timeout_seconds?: number };
type Session = { session_id: string; cdp_ws_url: string };
const start = (name: string, { save_changes = false, ...settings }: Settings = {}): Promise<Session> =>
  stack.kernel.browsers.create({ headless: true, timeout_seconds: 60, ...settings, profile: { name, save_changes } });
const end = async ({ session_id }: Session): Promise<void> => stack.kernel.browsers.deleteByID(session_id);

const conditionOf = ({ status }: Browser, wanted: string): Condition | undefined =>
  status?.conditions.find(({ type }) => type === wanted);
const browserOf = async ({ session_id: name }: { session_id: string }): Promise<Browser> => {
  const browser = await stack.kube.get(browserKind, { namespace, name });
  if (!browser) throw new Error(`no browser ${name}`);
  return browser;
};
/** Waits until the condition `ProfileSaved` has this reason. */
const settled = (session: { session_id: string }, reason: string): Promise<Browser> =>
  eventually(`the status says ${reason}`, async () => {
    const browser = await browserOf(session);
    return conditionOf(browser, "ProfileSaved")?.reason === reason ? browser : undefined;
  });
const gone = (browser: Browser): Promise<unknown> =>
  eventually(
    "its pod is gone",
    async () => !(await stack.kube.get(pods, { namespace, name: browser.status?.pod ?? "" })),
  );
/** The notes of a browser's Events of one reason. */
const notesOf = async ({ session_id: name }: { session_id: string }, reason: string): Promise<string[]> => {
  const { items } = await stack.kube.list(events, { namespace });
  return items
    .filter((event) => event.regarding?.name === name && event.reason === reason)
    .map(({ note = "" }) => note);
};

/** A profile that is logged in. */
const loggedInProfile = async (): Promise<string> => {
  const name = await newProfile();
  const first = await start(name, { save_changes: true });
  await site.logIn(first.cdp_ws_url);
  await end(first);
  await settled(first, "Saved");
  return name;
};

describe("a profile", () => {
  // PROFILE-7, PROFILE-20, PROFILE-23
  test("what a browser leaves in its profile is there in the next one", async () => {
    const name = await newProfile();
    const first = await start(name, { headless: false, save_changes: true });
    await site.logIn(first.cdp_ws_url);
    await end(first);
    // At once: it waits for what the first one left.
    const second = await start(name, { headless: false });
    expect(await site.found(second.cdp_ws_url)).toEqual(loggedIn);
    const before = await profileOf(name);
    expect(before.status?.lastUsedTime).toEqual(expect.any(String));
    await gone(await settled(first, "Saved"));
    expect(await notesOf(first, "ProfileSaved")).toEqual(["the browser's state is version 1 of its profile"]);

    // Nothing of the second one is kept: it did not ask for that.
    await end(second);
    await eventually("its pod is gone", async () => (await stack.kube.list(pods, { namespace })).items.length === 0);
    expect((await profileOf(name)).status).toMatchObject({ version: 1, sha256: before.status?.sha256 });
  });

  // PROFILE-3, PROFILE-4
  test("browsers of a pool start with it and write nothing to it, whatever the request says", async () => {
    const name = await loggedInProfile();
    const before = (await profileOf(name)).status;
    const profile = { name, save_changes: true };
    const pool = await filledPool(stack.kernel, { headless: true, timeout_seconds: 10, profile });
    for (const reuse of [true, false]) {
      const session = await stack.kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      expect(await site.found(session.cdp_ws_url)).toEqual(loggedIn);
      await site.logOut(session.cdp_ws_url);
      await stack.kernel.browserPools.release(pool.id, { session_id: session.session_id, reuse });
    }
    const labels = (await stack.kube.list(pods, { namespace })).items.map(({ metadata }) => metadata.labels);
    for (const each of labels) expect(each).not.toHaveProperty("browserpool.dev/saves-profile");
    await stack.kernel.browserPools.delete(pool.id, { force: true });
    const { lastUsedTime: _, ...after } = (await profileOf(name)).status ?? {};
    expect(before).toMatchObject(after);
  });

  // PROFILE-7, PROFILE-21
  test("a crash saves nothing: the old version stays, and an Event tells it", async () => {
    const name = await loggedInProfile();
    const session = await start(name, { save_changes: true });
    await site.logOut(session.cdp_ws_url);
    const { items } = await stack.kube.list(pods, { namespace, labelSelector: "browserpool.dev/saves-profile" });
    const uid = items.find(({ metadata }) => !metadata.deletionTimestamp)?.metadata.uid ?? "";
    const [group] = readFileSync(join(stack.dataDir, "pods", uid, "process-groups"), "utf8").split(" ");
    process.kill(-Number(group), "SIGKILL");
    await settled(session, "NotSaved");
    await eventually("an Event", async () =>
      (await notesOf(session, "ProfileNotSaved")).join().includes("browser_crashed"),
    );
    expect(await versionOf(name)).toBe(1);
    const next = await start(name);
    expect(await site.found(next.cdp_ws_url)).toEqual(loggedIn);
    await end(next);
  });

  // PROFILE-10, PROFILE-21, PROFILE-23
  test("while the store is away nothing is lost, and all who wait for it say so", async () => {
    const [saved, empty] = [await loggedInProfile(), await newProfile()];
    const session = await start(empty, { save_changes: true });
    await site.logIn(session.cdp_ws_url);
    const folder = join(stack.dataDir, "blobs");
    await rename(folder, `${folder}-away`);
    const putBack = (): Promise<void> => rename(`${folder}-away`, folder);
    // A failure must not take the store from later files.
    onTestFinished(() => putBack().catch(() => undefined));
    await end(session);
    const says = (named: string, type: string, reason: string, message: string): Promise<unknown> =>
      eventually(`${named} says ${message}`, async () => {
        const condition = conditionOf(await browserOf({ session_id: named }), type);
        return condition?.reason === reason && condition.message.includes(message);
      });
    await says(session.session_id, "ProfileSaved", "Saving", "the blob store");
    const download = await stack.call("GET", `/profiles/${saved}/download`);
    expect([download.status, download.headers.get("retry-after")]).toEqual([503, "1"]);
    const begin = (name: string, profile: string): Promise<Browser> =>
      stack.kube.create(browserKind, {
        metadata: { name, namespace },
        spec: { timeoutSeconds: 60, headless: true, profile: { name: profile } } as Browser["spec"],
      });
    await begin("needs-the-store", saved);
    // Nothing is saved in its profile yet: it needs nothing of the store, and waits for the save alone.
    await begin("needs-the-save", empty);
    await says("needs-the-store", "Ready", "WaitingForSetup", "the blob store");
    await says("needs-the-save", "Ready", "WaitingForSetup", "is being saved to the profile");

    await putBack();
    await settled(session, "Saved");
    for (const name of ["needs-the-store", "needs-the-save"]) {
      await says(name, "Ready", "Active", "active");
      const { cdp_ws_url = "" } = await stack.kernel.browsers.retrieve(name);
      expect(await site.found(cdp_ws_url)).toEqual(loggedIn);
      await stack.kernel.browsers.deleteByID(name);
    }
  });

  // PROFILE-7, PROFILE-21
  test("a profile that is deleted meanwhile keeps nothing, and an Event tells it", async () => {
    const name = await newProfile();
    const session = await start(name, { save_changes: true });
    await site.logIn(session.cdp_ws_url);
    await expect(stack.kernel.profiles.delete(name)).rejects.toMatchObject({ status: 409 });
    await stack.kube.delete(profileKind, (await profileOf(name)).metadata);
    await end(session);
    await settled(session, "NotSaved");
    await eventually("an Event", async () =>
      (await notesOf(session, "ProfileNotSaved")).join().includes("was deleted"),
    );
  });
});

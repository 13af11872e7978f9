import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import {
  emptyProfileStatus,
  formerFolder,
  type Profile,
  profileBlobKey,
  profileFolder,
  profileKind,
} from "../../../src/features/profiles/profile.ts";
import {
  deleteContents,
  moveFormer,
  noteProfileUse,
  type ProfileVersionsDeps,
  saveProfile,
  sweepVersions,
} from "../../../src/features/profiles/profile-versions.ts";
import { archiveName, listArchives, statusOfArchives } from "../../../src/features/profiles/saved-archives.ts";
import type { BlobStore } from "../../../src/platform/blobs/blob-store.ts";
import { openBlobStore } from "../../../src/platform/blobs/open-blob-store.ts";
import { connectKube, type Kube } from "../../../src/platform/kube/client.ts";
import { call, chunksOf, readBlob, stalledAfter } from "../../platform/blobs/blob-store-contract.ts";
import { sharedServers, testNamespace } from "../../support/control-plane.ts";

let kube: Kube;
let namespace: string;
let folder: string;
let blobs: BlobStore;
let deps: ProfileVersionsDeps;

beforeAll(async () => {
  kube = connectKube({ kubeconfigPath: (await sharedServers()).kubeconfigPath });
  namespace = (await testNamespace(kube)).name;
  folder = await mkdtemp(join(tmpdir(), "versions-"));
  ({ store: blobs } = await openBlobStore({ kind: "folder", path: folder }));
  deps = { kube, blobs, lead: { check: () => undefined }, now: Date.now };
});
afterAll(async () => {
  await kube.close();
  await rm(folder, { recursive: true, force: true });
});

const create = (finalizers: string[] = []): Promise<Profile> =>
  kube.create(profileKind, { metadata: { name: newId(), namespace, finalizers }, spec: {} });
const read = ({ metadata }: Profile): Promise<Profile | undefined> => kube.get(profileKind, metadata);
const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

let lastEndMs = Date.UTC(2026, 0, 1);
const later = (): number => {
  lastEndMs += 1;
  return lastEndMs;
};
/** `endMs`: when its browser ended; left out, after all others. */
const save = ({ metadata }: Profile, body: string | AsyncIterable<Uint8Array>, endMs = later()) =>
  saveProfile(
    {
      profile: metadata,
      endMs,
      ...(typeof body === "string"
        ? { body: chunksOf(Buffer.from(body)), sha256: digestOf(body) }
        : { body, sha256: digestOf(`${endMs}`) }),
    },
    deps,
    AbortSignal.timeout(20_000),
  );
const versionsOf = async (profile: Profile): Promise<string[]> =>
  (await listArchives(profile, blobs)).map(({ version }) => `${version}`).sort();
/** The key of an archive that no status names. */
const keyOf = (profile: Profile, version: number): string =>
  `${profileFolder(profile)}/${archiveName({ version, endMs: 1, sha256: "0".repeat(64) })}`;
const readCurrent = async (profile: Profile): Promise<string> =>
  `${await readBlob(blobs, profileBlobKey((await read(profile)) as Profile))}`;

// PROFILE-16
test("each save is a new version, which replaces the one before it", async () => {
  const profile = await create();
  await save(profile, "first");
  expect(await save(profile, "second")).toEqual({ is: "saved", version: 2 });
  expect((await read(profile))?.status).toMatchObject({ version: 2, sizeBytes: 6, sha256: digestOf("second") });
  expect(await versionsOf(profile)).toEqual(["2"]);
  expect(await readCurrent(profile)).toBe("second");
  expect((await read(profile))?.status).toMatchObject({ oldestVersion: 2, claimedVersion: 2 });
});

// PROFILE-16
test("of saves at once that of the browser that ended last counts, whichever is over first", async () => {
  const profile = await create();
  const slow = stalledAfter(Buffer.from("slow"));
  const earlier = save(profile, slow.body);
  await slow.reached;
  expect(await save(profile, "later")).toEqual({ is: "saved", version: 2 });
  slow.goOn();
  expect(await earlier).toEqual({ is: "superseded" });
  expect(await versionsOf(profile)).toEqual(["2"]);
  expect(await readCurrent(profile)).toBe("later");
});

// PROFILE-16
test("a browser that ended last is saved last, although others began their saves after it", async () => {
  const profile = await create();
  const slow = stalledAfter(Buffer.from("of the last browser"));
  const [before, last] = [later(), later()];
  const saving = save(profile, slow.body, last);
  await slow.reached;
  expect(await save(profile, "of the one before", before)).toEqual({ is: "saved", version: 2 });
  slow.goOn();
  expect(await saving).toEqual({ is: "overtaken" });
  expect(await versionsOf(profile)).toEqual(["2"]);
  expect(await save(profile, "of the last browser", last)).toEqual({ is: "saved", version: 3 });
});

// PROFILE-16
test("what is saved already is not saved again: its operator died before it told anybody", async () => {
  const profile = await create();
  const endMs = later();
  await save(profile, "once", endMs);
  expect(await save(profile, "once", endMs - 1)).toEqual({ is: "saved", version: 1 });
  await save(profile, "of another one");
  expect(await save(profile, "once", endMs)).toEqual({ is: "superseded" });
  expect((await read(profile))?.status).toMatchObject({ version: 2, sha256: digestOf("of another one") });
});

// PROFILE-16
test("many saves at once leave one version, whole and as the status says", async () => {
  const profile = await create();
  const texts = Array.from({ length: 5 }, () => randomBytes(50_000).toString("hex"));
  await Promise.all(texts.map((text) => save(profile, text)));
  const { version = 0, sha256 } = (await read(profile))?.status ?? {};
  expect(await versionsOf(profile)).toEqual([String(version)]);
  const text = await readCurrent(profile);
  expect(texts).toContain(text);
  expect(digestOf(text)).toBe(sha256);
});

// PROFILE-16
test("a save that fails changes nothing, and its number is not used again", async () => {
  const profile = await create();
  await save(profile, "good");
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("the browser died");
  };
  await expect(save(profile, failing())).rejects.toThrow("the browser died");
  expect((await read(profile))?.status).toMatchObject({ version: 1, claimedVersion: 2 });
  expect(await versionsOf(profile)).toEqual(["1"]);
  expect(await save(profile, "next")).toEqual({ is: "saved", version: 3 });
});

test("what a crash left between put and status goes with the next sweep, or with the profile", async () => {
  const profile = await create();
  await save(profile, "good");
  // As a replica leaves it that died after the put: a claimed number, contents, no version.
  const current = (await read(profile)) as Profile;
  const { status } = current;
  if (!status) throw new Error("no status");
  await kube.replace(profileKind, { ...current, status: { ...status, claimedVersion: 2 } }, { subresource: "status" });
  await blobs.put(keyOf(profile, 2), chunksOf(Buffer.from("orphan")), call());
  expect(await save(profile, "next")).toEqual({ is: "saved", version: 3 });
  expect(await versionsOf(profile)).toEqual(["3"]);

  await blobs.put(keyOf(profile, 2), chunksOf(Buffer.from("overtaken")), call());
  const last = (await read(profile)) as Profile;
  await sweepVersions(last, deps);
  expect(await versionsOf(profile)).toEqual(["2", "3"]);
  await deleteContents(last, deps);
  expect(await versionsOf(profile)).toEqual([]);
});

// PROFILE-11
test("a save into a profile that is deleted meanwhile leaves nothing, also when another has its name", async () => {
  const profile = await create(["browserpool.dev/test"]);
  const slow = stalledAfter(Buffer.from("slow"));
  const saving = save(profile, slow.body);
  await slow.reached;
  await kube.delete(profileKind, profile.metadata);
  slow.goOn();
  expect(await saving).toEqual({ is: "gone" });
  expect(await versionsOf(profile)).toEqual([]);
  await kube.patch(profileKind, profile.metadata, { metadata: { finalizers: [] } });

  const again = await kube.create(profileKind, { metadata: { name: profile.metadata.name, namespace }, spec: {} });
  expect(await save(profile, "of the first")).toEqual({ is: "gone" });
  expect((await read(again))?.status?.version ?? 0).toBe(0);
  expect(await versionsOf(profile)).toEqual([]);
});

test("a replica that no longer leads writes nothing", async () => {
  const profile = await create();
  const check = (): void => {
    throw new Error("the lead is lost");
  };
  const wanted = { profile: profile.metadata, body: chunksOf(Buffer.from("x")), sha256: digestOf("x"), endMs: 1 };
  await expect(saveProfile(wanted, { ...deps, lead: { check } }, call().signal)).rejects.toThrow("the lead is lost");
  expect((await read(profile))?.status?.claimedVersion ?? 0).toBe(0);
  expect(await versionsOf(profile)).toEqual([]);
});

// PROFILE-2
test("the last use is noted beside what is saved", async () => {
  const profile = await create();
  await save(profile, "x");
  await noteProfileUse(profile.metadata, { ...deps, now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) });
  expect((await read(profile))?.status).toMatchObject({ version: 1, lastUsedTime: "2026-01-02T03:04:05.678Z" });
  await noteProfileUse(profile.metadata, { ...deps, now: () => Date.UTC(2026, 0, 2, 3, 5, 5, 677) });
  expect((await read(profile))?.status).toMatchObject({ lastUsedTime: "2026-01-02T03:04:05.678Z" });
});

// PROFILE-27
test("the store alone says what was saved last, also beside what a crash has left", async () => {
  const profile = await create();
  await save(profile, "first");
  await save(profile, "second");
  const { status } = (await read(profile)) as Profile;
  expect(statusOfArchives(await listArchives(profile, blobs))).toEqual({
    ...{ version: 2, sha256: digestOf("second"), sizeBytes: 6, archive: status?.archive, claimedVersion: 2 },
    browserEndTime: status?.browserEndTime,
    savedTime: expect.stringMatching(/Z$/),
  });
  await blobs.put(keyOf(profile, 7), chunksOf(Buffer.from("of an earlier browser")), call());
  expect(statusOfArchives(await listArchives(profile, blobs))).toMatchObject({ version: 2, claimedVersion: 7 });
  await blobs.put(`${profileFolder(profile)}/nonsense`, chunksOf(Buffer.from("x")), call());
  expect(await versionsOf(profile)).toEqual(["2", "7"]);
});

// PROFILE-29
test("what an older release has stored by the uid is moved once, and can be read all the time", async () => {
  const profile = await create();
  const status = { ...emptyProfileStatus, version: 3, claimedVersion: 3, oldestVersion: 2, sizeBytes: 3 };
  const old = { ...status, sha256: digestOf("old"), browserEndTime: "2026-01-02T03:04:05.678Z" };
  await kube.replace(profileKind, { ...profile, status: old }, { subresource: "status" });
  for (const version of [2, 3])
    await blobs.put(`${formerFolder(profile)}/${version}`, chunksOf(Buffer.from("old")), call());
  expect(await readCurrent(profile)).toBe("old");
  await moveFormer((await read(profile)) as Profile, deps);
  expect(await readCurrent(profile)).toBe("old");
  const { status: moved } = (await read(profile)) as Profile;
  expect(moved).toMatchObject({ ...old, oldestVersion: 0, archive: expect.stringMatching(/^3-1767323045678-/) });
  await sweepVersions((await read(profile)) as Profile, deps);
  expect(await blobs.get(`${formerFolder(profile)}/3`, call())).toBeUndefined();
  expect(await readCurrent(profile)).toBe("old");
});

// PROFILE-29
test("a save replaces what an older release has stored", async () => {
  const profile = await create();
  const old = { ...emptyProfileStatus, version: 3, claimedVersion: 3, sizeBytes: 3, sha256: digestOf("old") };
  await kube.replace(profileKind, { ...profile, status: old }, { subresource: "status" });
  await blobs.put(`${formerFolder(profile)}/3`, chunksOf(Buffer.from("old")), call());
  expect(await save(profile, "new")).toEqual({ is: "saved", version: 4 });
  expect(await readCurrent(profile)).toBe("new");
  expect(await blobs.get(`${formerFolder(profile)}/3`, call())).toBeUndefined();
});

/** Contents of profiles for tests: what a real Chromium leaves behind, saved as the product saves it. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { readConfig } from "../../src/core/config/config.ts";
import { packProfile } from "../../src/features/profiles/archive/pack-profile.ts";
import { type Profile, profileKind } from "../../src/features/profiles/profile.ts";
import { saveProfile } from "../../src/features/profiles/profile-versions.ts";
import { openBlobStore } from "../../src/platform/blobs/open-blob-store.ts";
import type { Kube } from "../../src/platform/kube/client.ts";
import { launchChromium } from "./plain-chromium.ts";

/** Longest time to pack or to save, ms. */
const withinMs = 30_000;

/** The archive of a browser that is logged in at `domain`: it has the cookie `login` with this value. */
export const loginArchive = async (value: string, domain = "cookies.test"): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), "login-"));
  try {
    const browser = await launchChromium(folder);
    await browser.setCookie({ name: "login", value, domain, path: "/", expires: Date.now() / 1000 + 86_400 });
    // Not by a signal: the cookie would be missing.
    await browser.close();
    return await buffer(packProfile(folder, { signal: AbortSignal.timeout(withinMs) }));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
};

/** A project of a local mode, by the data and the API server. */
type Target = { dataDir: string; kube: Kube; namespace: string };

/** The store of blobs of a local mode, opened a second time. */
export const blobsOf = async ({ dataDir }: Pick<Target, "dataDir">) =>
  (await openBlobStore(readConfig({ BROWSERPOOL_BLOBS: pathToFileURL(join(dataDir, "blobs")).href }).blobs)).store;

/** Saves the archive as the newest version of a profile, as the operator does. */
export const saveVersion = async (id: string, archive: Buffer, target: Target): Promise<Profile> => {
  const { kube, namespace } = target;
  const profile = await kube.get(profileKind, { name: id, namespace });
  if (!profile) throw new Error(`no profile ${id}`);
  const deps = { kube, blobs: await blobsOf(target), lead: { check: () => undefined }, now: Date.now };
  const body = (async function* () {
    yield archive;
  })();
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const wanted = { profile: profile.metadata, body, sha256, endMs: Date.now() };
  const { is } = await saveProfile(wanted, deps, AbortSignal.timeout(withinMs));
  const saved = await kube.get(profileKind, profile.metadata);
  if (is !== "saved" || !saved) throw new Error(`the profile ${id} was not saved: ${is}`);
  return saved;
};

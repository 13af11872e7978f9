/** The commands of docs/backup.md as they stand: from a cluster that is lost into a new one, with the same bucket. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { toFile } from "@onkernel/sdk";
import { expect, onTestFinished, test } from "vitest";
import { extensionKind } from "../../src/features/extensions/extension.ts";
import { profileKind } from "../../src/features/profiles/profile.ts";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";
import { backupCommands } from "../support/backup-page.ts";
import { clientsOf } from "../support/clients.ts";
import { prepareDataDir } from "../support/control-plane.ts";
import { fastest, untilAvailable } from "../support/filled-pool.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";
import { markingExtension } from "../support/marking-extension.ts";
import { cookieOf, withCdp } from "../support/raw-cdp.ts";
import { s3Login, startS3Server, withoutS3 } from "../support/s3-server.ts";
import { saveLogin } from "../support/save-login.ts";

/** Runs commands of the page in `folder`, for the cluster of this kubeconfig. */
const run = async (commands: string, { folder, kubeconfig }: { folder: string; kubeconfig: string }) => {
  const env = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: folder,
    KUBECONFIG: kubeconfig,
  };
  await promisify(execFile)("/bin/sh", ["-euc", commands], { cwd: join(folder, "files"), env, timeout: 60_000 });
};

const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "restore-"));
  for (const name of ["bin", "files"]) await mkdir(join(folder, name));
  await symlink(locatePrograms(process.env).kubectl ?? "kubectl", join(folder, "bin", "kubectl"));
  return folder;
};

/** A project with a profile in which a browser has saved a login, an extension, and a pool that has both. */
const fillCluster = async (stack: LocalStack) => {
  const { id: project } = await stack.kernel.projects.create({ name: "lost" });
  const { key } = await stack.kernel.apiKeys.create({ name: "of the project", project_id: project });
  const { kernel } = clientsOf(stack, project);
  const profile = await kernel.profiles.create({ name: "work" });
  const zip = markingExtension("kept");
  const extension = await kernel.extensions.upload({ name: "kept", file: await toFile(zip, "kept.zip") });
  await kernel.browserPools.create({
    ...{ name: "again", size: 1, headless: true, fill_rate_per_minute: fastest },
    ...{ profile: { name: "work" }, extensions: [{ name: "kept" }] },
  });
  return { project, key, kernel, profile, extension, zip };
};

const login = "of the lost cluster";

const log = createLogger("error", "test");

/** The new cluster without the service, as a provider hands it over. */
const newCluster = async (work: (kubeconfig: string) => Promise<void>): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), "bp-"));
  await prepareDataDir(dataDir);
  const programs = locatePrograms(process.env);
  const plane = await startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });
  try {
    await work(plane.kubeconfigPath);
  } finally {
    await plane.stop();
  }
  return dataDir;
};

const hasJq = await promisify(execFile)("jq", ["--version"]).then(
  () => true,
  () => false,
);

// PROFILE-27, EXTENSION-16
test.skipIf(withoutS3() ?? !hasJq)(
  "the page's commands bring a lost cluster back: a browser of the new one has the login that was saved in the old one",
  async () => {
    const { backup, before, after } = backupCommands;
    await using s3 = await startS3Server();
    const env = {
      BROWSERPOOL_BLOBS: `s3://${s3.settings.bucket}/one`,
      BROWSERPOOL_S3_ENDPOINT: s3.settings.endpoint ?? "",
      BROWSERPOOL_S3_REGION: s3.settings.region,
      ...s3Login,
    };
    const folder = await newFolder();
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const lost = await startLocalStack({ env });
    let made: Awaited<ReturnType<typeof fillCluster>>;
    try {
      made = await fillCluster(lost);
      // Objects are older than contents: the store is not in the cluster.
      await run(backup, { folder, kubeconfig: lost.kubeconfig });
      await saveLogin({ ...made, kube: lost.kube, namespace: made.project }, { profile: "work", login });
    } finally {
      await lost[Symbol.asyncDispose]();
    }
    const { project, key, profile, extension, zip } = made;

    const dataDir = await newCluster((kubeconfig) => run(before, { folder, kubeconfig }));
    await using stack = await startLocalStack({ env, dataDir });
    expect(await stack.kube.list(profileKind, {})).toMatchObject({ items: [] });
    await run(after, { folder, kubeconfig: stack.kubeconfig });

    // The old key, since its Secret came back.
    const { kernel } = clientsOf({ ...stack, api_key: key });
    const browsers = await untilAvailable(kernel, "again", 1);
    expect(browsers).toMatchObject({ profile_id: profile.id, extension_ids: [extension.id] });
    const { session_id, cdp_ws_url } = await kernel.browserPools.acquire("again", { acquire_timeout_seconds: 60 });
    expect(await withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "login"))).toBe(login);
    await kernel.browserPools.release("again", { session_id });
    const restored = await stack.kube.get(profileKind, { namespace: project, name: profile.id });
    expect(restored?.status).toMatchObject({ version: 1, archive: expect.stringMatching(/^1-/) });
    const file = await kernel.extensions.download(extension.id);
    expect(Buffer.from(await file.arrayBuffer()).equals(zip)).toBe(true);
    const { status } = (await stack.kube.get(extensionKind, { namespace: project, name: extension.id })) ?? {};
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "Stored" }));
  },
  180_000,
);

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { backupCommands } from "../../support/backup-page.ts";
import { cookieOf, withCdp } from "../../support/raw-cdp.ts";
import { saveLogin } from "../../support/save-login.ts";
import { type Lane, type Phase, projectNamespace, release, systemNamespace } from "../lane.ts";
import { installAnew } from "../setup/install-release.ts";
import { versionOf } from "../setup/release.ts";
import { until } from "./until.ts";

const profile = "restored";
const pool = "restored";
const login = "of the lost cluster";

/** Runs commands of the page. */
const runInFolder = async ({ run, folder }: Lane, commands: string): Promise<void> => {
  const files = join(folder, "backup");
  await mkdir(files, { recursive: true });
  await run("sh", "-euc", `cd "$0"; ${commands}`, files);
};

/**
 * Takes all of the installation away but its bucket, without its operator, which would take the contents along: what is
 * left is what a new cluster has.
 */
const loseCluster = async ({ run, kubectl }: Lane): Promise<void> => {
  await run("helm", "uninstall", release, "--namespace", systemNamespace, "--wait", "--timeout", "2m");
  const definitions = (await kubectl("get", "crds", "--output", "name"))
    .split("\n")
    .filter((name) => name.endsWith(".browserpool.dev"));
  for (const definition of definitions) {
    const kind = definition.slice(definition.indexOf("/") + 1);
    const path = ["--output", 'jsonpath={range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}'];
    const objects = (await kubectl("get", kind, "--all-namespaces", ...path)).split("\n").filter(Boolean);
    for (const object of objects) {
      const [namespace = "", name = ""] = object.split(" ");
      const place = namespace === "" ? [] : ["--namespace", namespace];
      await kubectl("patch", kind, name, ...place, "--type=merge", '--patch={"metadata":{"finalizers":null}}');
    }
  }
  await kubectl("delete", ...definitions, "--timeout=60s");
  await kubectl("delete", "namespaces", "--selector", "browserpool.dev/project", "--timeout=120s");
  await kubectl("delete", "namespace", systemNamespace, "--timeout=120s");
};

export const restore: Phase = {
  name: "restore",
  summary: "docs/backup.md brings back an installation of which only the bucket is left, with the login of a profile",
  async run(lane, check) {
    const { stack, kube, run, images, signal } = lane;
    const { kernel } = stack;
    await check("a profile, a pool with it, a backup, and after that a login", async () => {
      await kernel.profiles.create({ name: profile });
      const settings = { size: 1, headless: true, fill_rate_per_minute: 6000, profile: { name: profile } };
      await kernel.browserPools.create({ name: pool, ...settings });
      await runInFolder(lane, backupCommands.backup);
      await saveLogin({ kernel, kube, namespace: projectNamespace }, { profile, login });
    });
    await check("the cluster is lost", () => loseCluster(lane));
    await check("namespaces and Secrets are back, and Helm installs", async () => {
      await runInFolder(lane, backupCommands.before);
      await installAnew(versionOf(images), { kube, run });
    });
    await check("the objects are back", () => runInFolder(lane, backupCommands.after));
    await check("a browser of the pool has the login", async () => {
      const isFilled = async () => {
        const found = await kernel.browserPools.retrieve(pool).catch(() => undefined);
        return found?.available_count === 1;
      };
      await until("the pool is full", isFilled, { signal, limitMs: 120_000 });
      const { session_id, cdp_ws_url } = await kernel.browserPools.acquire(pool, { acquire_timeout_seconds: 60 });
      const found = await withCdp(cdp_ws_url, (cdp) => cookieOf(cdp, "login"));
      await kernel.browserPools.release(pool, { session_id });
      if (found !== login) throw new Error(`login: ${found}`);
    });
    await kernel.browserPools.delete(pool, { force: true });
    await kernel.profiles.delete(profile);
  },
};

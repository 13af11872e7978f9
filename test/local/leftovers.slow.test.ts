import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startControlPlane } from "../../src/local/control-plane.ts";
import { lockDataDir } from "../../src/local/data-dir-lock.ts";
import { endLeftovers, podTempFolder } from "../../src/local/leftovers.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube } from "../../src/platform/kube/client.ts";
import { pods } from "../../src/platform/kube/resource-type.ts";
import { registerProcess } from "../../src/platform/process/process-groups.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive, processesOf, processNamed } from "../support/processes.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-leftovers-"));
});
afterEach(async () => {
  await endLeftovers(dataDir, { isAfterReboot: false });
  await rm(dataDir, { recursive: true, force: true });
});

const startRun = async (behaviour: string): Promise<ChildProcess> => {
  const script = join(import.meta.dirname, "../support/local-run.ts");
  const run = spawn(process.execPath, [script, dataDir, behaviour], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await once(run.stdout ?? run, "data");
  expect(String(said)).toBe("running\n");
  return run;
};

const browserOf = async (uid: string): Promise<number> =>
  Number((await readFile(join(dataDir, "pods", uid, "process-groups"), "utf8")).split(" ")[0]);

test("after a kill -9 of a whole run the next start ends every process of it, removes its pod folders and keeps its data", async () => {
  const run = await startRun("stubborn-with-browser");
  const [uid = ""] = await readdir(join(dataDir, "pods"));
  const browser = await browserOf(uid);
  await access(podTempFolder(uid));
  const gone = once(run, "exit");
  run.kill("SIGKILL");
  await gone;
  expect(await isAlive(browser)).toBe(true);

  const lock = await lockDataDir(dataDir);
  expect(lock.isAfterReboot).toBe(false);
  await endLeftovers(dataDir, lock);
  expect(await processesOf(dataDir)).toEqual([]);
  expect(await isAlive(browser)).toBe(false);
  expect(await readdir(join(dataDir, "pods"))).toEqual([]);
  await expect(access(podTempFolder(uid))).rejects.toThrow("ENOENT");
  expect((await readdir(join(dataDir, "run"))).filter((file) => file.endsWith(".process"))).toEqual([]);

  const log = createLogger("silent", "test");
  const plane = await startControlPlane({ dataDir, programs: locatePrograms(process.env), log, unsafeNoFsync: true });
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath });
  expect((await kube.get(pods, { namespace: "default", name: "browser" }))?.metadata.uid).toBe(uid);
  await kube.close();
  await plane.stop();
  await lock.release();
});

test("the programs of a killed run die with it, and its agents are told to end", async () => {
  const run = await startRun("with-browser");
  expect((await processNamed(dataDir, "redis")).pid).toBeGreaterThan(1);
  const browser = await browserOf((await readdir(join(dataDir, "pods")))[0] ?? "");
  run.kill("SIGKILL");
  await eventually("no process is left but the browser", async () =>
    (await processesOf(dataDir)).every(({ pid }) => pid === browser),
  );
  await endLeftovers(dataDir, { isAfterReboot: false });
});

test("a process that reuses a registered pid is left alone, as is every process after a reboot", async () => {
  const bystander = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const pid = bystander.pid ?? 0;
  await registerProcess(dataDir, "etcd", pid);
  await endLeftovers(dataDir, { isAfterReboot: true });
  expect(await isAlive(pid)).toBe(true);
  expect(await readdir(join(dataDir, "run"))).toEqual([]);

  await registerProcess(dataDir, "etcd", pid);
  const file = join(dataDir, "run/etcd.process");
  const entry = await readFile(file, "utf8");
  await writeFile(file, entry.replace(/\d+$/m, "1"));
  await endLeftovers(dataDir, { isAfterReboot: false });
  expect(await isAlive(pid)).toBe(true);

  await registerProcess(dataDir, "etcd", pid);
  await endLeftovers(dataDir, { isAfterReboot: false });
  expect(await isAlive(pid)).toBe(false);
});

test("a second run on the same data directory is refused while the first lives, with the process and what to do", async () => {
  const run = await startRun("");
  await expect(lockDataDir(dataDir)).rejects.toThrow(
    `${dataDir} is in use by process ${run.pid}: stop it, or choose another directory with --data-dir`,
  );
  const gone = once(run, "exit");
  run.kill("SIGKILL");
  await gone;
  const lock = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(`process ${process.pid}`);
  await endLeftovers(dataDir, lock);
  await lock.release();
  await (await lockDataDir(dataDir)).release();
});

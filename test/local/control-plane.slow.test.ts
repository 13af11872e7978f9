import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../src/local/control-plane.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { createLogger } from "../../src/platform/base/log.ts";
import { connectKube } from "../../src/platform/kube/client.ts";
import { namespaces } from "../../src/platform/kube/resource-type.ts";
import { eventually } from "../support/eventually.ts";
import { processesOf, processNamed } from "../support/processes.ts";

const programs = locatePrograms(process.env);
const log = createLogger("silent", "test");
let dataDir: string;
let plane: ControlPlane;

const start = (): Promise<ControlPlane> => startControlPlane({ dataDir, programs, log, unsafeNoFsync: true });

const kubectl = async (...args: string[]): Promise<string> => {
  const all = ["--kubeconfig", plane.kubeconfigPath, "--cache-dir", join(dataDir, "kubectl-cache"), ...args];
  return (await promisify(execFile)(programs.kubectl ?? "kubectl", all)).stdout;
};

/** Asks over a new connection each time, as a client would that starts later. */
const hasNamespace = async (name: string): Promise<boolean> => {
  const kube = connectKube({ kubeconfigPath: plane.kubeconfigPath, requestTimeoutMs: 2000 });
  return kube
    .get(namespaces, { name })
    .then(Boolean, () => false)
    .finally(() => kube.close());
};

const modeOf = async (file: string): Promise<number> => (await stat(join(dataDir, file))).mode & 0o777;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-plane-"));
  plane = await start();
});
afterAll(async () => {
  await plane.stop();
  expect(await processesOf(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true, force: true });
});

test("kubectl works with the kubeconfig alone", async () => {
  await kubectl("create", "namespace", "by-kubectl");
  expect(await kubectl("get", "namespaces", "--output=name")).toContain("namespace/by-kubectl");
  expect(await kubectl("config", "current-context")).toBe("browserpool-local\n");
});

test("secrets on disk are readable for this user only, and no process has one as an argument", async () => {
  for (const file of ["kubeconfig", "kube-apiserver/tokens.csv", "kube-apiserver/service-account.key"])
    expect(await modeOf(file), file).toBe(0o600);
  for (const folder of ["etcd", "run", "logs", "kube-apiserver"]) expect(await modeOf(folder), folder).toBe(0o700);
  const [token = ""] = (await readFile(join(dataDir, "kube-apiserver/tokens.csv"), "utf8")).split(",");
  for (const { commandLine } of await processesOf(dataDir)) expect(commandLine).not.toContain(token);
});

test("a request without a token is refused", async () => {
  const answer = promisify(execFile)("curl", ["--silent", "--insecure", `${plane.serverUrl}/api/v1/namespaces`]);
  expect(JSON.parse((await answer).stdout).code).toBe(401);
});

test("etcd has no port", async () => {
  const { commandLine, pid } = await processNamed(dataDir, "etcd");
  expect(commandLine).toContain("unix://");
  const sockets = (await readFile(`/proc/${pid}/net/tcp`, "utf8")).split("\n");
  const own = await promisify(execFile)("ls", ["-l", `/proc/${pid}/fd`]);
  const inodes = [...own.stdout.matchAll(/socket:\[(\d+)\]/g)].map(([, inode]) => inode);
  expect(inodes.length).toBeGreaterThan(0);
  expect(sockets.filter((line) => inodes.includes(line.trim().split(/\s+/)[9]))).toEqual([]);
});

test.each(["kube-apiserver", "etcd"])("after a kill -9, %s is back at the same address with its data", async (name) => {
  // Fails by a wait that runs out: for another process, or for the data; or when kubectl, at the same address, is
  // refused.
  await kubectl("create", "namespace", `before-${name}`);
  const killed = await processNamed(dataDir, name);
  process.kill(killed.pid, "SIGKILL");
  await eventually(`${name} runs again`, async () => {
    const found = await processNamed(dataDir, name).catch(() => undefined);
    return found && found.pid !== killed.pid;
  });
  await eventually("the API answers", () => hasNamespace(`before-${name}`));
  await kubectl("create", "namespace", `after-${name}`);
});

test("a restart on the same data directory keeps the data", async () => {
  await kubectl("create", "namespace", "kept");
  await plane.stop();
  expect(await processesOf(dataDir)).toEqual([]);
  plane = await start();
  expect(await hasNamespace("kept")).toBe(true);
});

test("a start that is given up leaves no process", async () => {
  const folder = await mkdtemp(join(tmpdir(), "browserpool-given-up-"));
  const signal = AbortSignal.timeout(500);
  await expect(startControlPlane({ dataDir: folder, programs, log, signal })).rejects.toThrow();
  expect(await processesOf(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

test("a missing program is named, with what to do about it", async () => {
  await expect(startControlPlane({ dataDir, programs: {}, log })).rejects.toThrow(/etcd was not found.*npm run setup/);
});

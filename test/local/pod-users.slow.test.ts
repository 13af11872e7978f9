/** What a browser of local mode is to the machine, and what it reaches: for root, each pod has a user of its own (NETWORK-15). */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filledPool } from "../support/filled-pool.ts";
import { type LocalStack, startLocalStack } from "../support/local-stack.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

let stack: LocalStack;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  stack = await startLocalStack();
  const { id } = await filledPool(stack.kernel, { size: 2, headless: false });
  const { cdp_ws_url } = await stack.kernel.browserPools.acquire(id, {});
  browser = await puppeteer.connect({ browserWSEndpoint: cdp_ws_url });
  page = await browser.newPage();
});
afterAll(async () => {
  await browser?.disconnect();
  await stack?.[Symbol.asyncDispose]();
});

type Status = { pid: number; uid: number; noNewPrivs: string; seccomp: string; command: string };

const statusOf = async (pid: number): Promise<Status | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const field = (name: string): string => new RegExp(`^${name}:\\t(\\S+)`, "m").exec(status)?.[1] ?? "";
  return command === ""
    ? undefined
    : { pid, uid: Number(field("Uid")), noNewPrivs: field("NoNewPrivs"), seccomp: field("Seccomp"), command };
};

/** Of every program whose command names a folder of the pods. */
const chromium = async (): Promise<Status[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(pids.map(statusOf));
  const folder = `--user-data-dir=${stack.dataDir}`;
  return all.filter((one) => one?.command.includes(folder)) as Status[];
};

test("Chromium says that its sandbox is on, and local mode has nothing to warn of", async () => {
  await page.goto("chrome://sandbox");
  const text = await page.evaluate("document.body.innerText");
  expect(text).toMatch(/Layer 1 Sandbox\s+Namespace/);
  expect(text).toMatch(/Seccomp-BPF sandbox\s+Yes/);
  expect(text).toContain("You are adequately sandboxed.");
  expect((await chromium()).some(({ command }) => command.includes("--no-sandbox"))).toBe(false);
  expect(stack.output()).not.toContain("WARNING");
});

test("a page can open no file of the machine", async () => {
  for (const path of ["local.json", "authorization", "api-key", "kubeconfig"]) {
    const url = `file://${join(stack.dataDir, path)}`;
    await expect(page.goto(url)).rejects.toThrow("net::ERR_FILE_NOT_FOUND");
  }
});

describe.runIf(isRoot)("a pod of root", () => {
  test("runs as a user of its own, who gets no more rights", async () => {
    const processes = await chromium();
    const users = new Set(processes.map(({ uid }) => uid));
    expect(users.size).toBe(2);
    for (const { uid, noNewPrivs } of processes) {
      expect(uid).toBeGreaterThan(0x7f000000);
      expect(noNewPrivs).toBe("1");
    }
    const renderers = processes.filter(({ command }) => command.includes("--type=renderer"));
    expect(renderers.length).toBeGreaterThan(0);
    for (const { seccomp } of renderers) expect(seccomp).toBe("2");
  });

  test("reads and writes nothing of root's, and nothing of another pod, outside its namespaces too", async () => {
    const agents = await agentsOf(stack.dataDir);
    expect(agents).toHaveLength(2);
    const [one, other] = agents as [Agent, Agent];
    /** Runs a program as the user of a pod, with what its agent sees of the machine's files, or with all of them. */
    const as = (uid: number, mounts: number, ...command: string[]) =>
      run("nsenter", [`--mount=/proc/${mounts}/ns/mnt`, "setpriv", ...userArguments(uid), "--", ...command]);
    const isThere = (mounts: number, path: string) => as(one.uid, mounts, "test", "-e", path);
    await isThere(one.pid, one.folder);
    const secrets = ["local.json", "authorization", "api-key", "kubeconfig", "redis", "etcd", "kube-apiserver", "logs"];
    const paths = [...secrets.map((name) => join(stack.dataDir, name)), other.folder];
    for (const path of paths) {
      await expect(as(one.uid, one.pid, "ls", path), path).rejects.toThrow(/No such file|Permission denied/);
      await expect(as(one.uid, process.pid, "ls", path), path).rejects.toThrow("Permission denied");
    }
    await expect(as(one.uid, one.pid, "cat", `/proc/${other.pid}/environ`)).rejects.toThrow("Permission denied");
    await expect(as(one.uid, one.pid, "kill", "-0", String(other.pid))).rejects.toThrow("not permitted");
    await expect(as(one.uid, one.pid, "touch", main)).rejects.toThrow(/Read-only|Permission denied/);
    const { stdout: compiled } = await run("nsenter", [`--mount=/proc/${one.pid}/ns/mnt`, "find", "/mnt"]);
    const places = compiled.trim().split("\n");
    expect(places.length).toBeGreaterThan(100);
    expect((await as(one.uid, one.pid, "find", ...places, "-prune", "-writable")).stdout).toBe("");
  });

  test("leaves no process of its user", async () => {
    const before = await agentsOf(stack.dataDir);
    await browser.disconnect();
    for await (const { id } of stack.kernel.browserPools.list())
      await stack.kernel.browserPools.delete(id, { force: true });
    await eventually("no process of the users runs", async () => {
      const { stdout } = await run("ps", ["-eo", "uid="]);
      return !before.some(({ uid }) => stdout.split("\n").some((line) => Number(line) === uid));
    });
    expect(await readdir(join(stack.dataDir, "pods"))).toEqual([]);
  });
});

const main = join(import.meta.dirname, "../../src/main.ts");

const userArguments = (uid: number): string[] => [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];

type Agent = { pid: number; uid: number; folder: string };

/** The agents of this local mode, with their pods' folders. */
const agentsOf = async (dataDir: string): Promise<Agent[]> => {
  const found: Agent[] = [];
  for (const name of (await readdir("/proc")).filter((one) => /^\d+$/.test(one))) {
    const status = await statusOf(Number(name));
    if (!status?.command.includes(main) || status.command.includes("local")) continue;
    const environment = await readFile(`/proc/${name}/environ`, "utf8").catch(() => "");
    const folder = /(?:^|\0)BROWSERPOOL_AGENT_DATA_DIR=([^\0]+)/.exec(environment)?.[1];
    if (folder?.startsWith(`${dataDir}/`)) found.push({ ...status, folder });
  }
  return found;
};

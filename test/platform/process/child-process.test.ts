import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, startChild } from "../../../src/platform/process/child-process.ts";
import { startLog } from "../../../src/platform/process/log-file.ts";
import { eventually } from "../../support/eventually.ts";
import { isAlive, processesOf } from "../../support/processes.ts";

let dataDir: string;
let logPath: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "browserpool-child-"));
  logPath = join(dataDir, "logs/child.log");
  await startLog(logPath);
});
afterEach(async () => {
  expect(await processesOf(dataDir)).toEqual([]);
  await rm(dataDir, { recursive: true });
});

const startShell = (script: string, parentDeathSignal: "KILL" | "INT" = "KILL"): Promise<Child> =>
  startChild({
    dataDir,
    name: "child",
    command: ["/bin/sh", "-c", script],
    env: { GIVEN: "value" },
    cwd: dataDir,
    logPath,
    parentDeathSignal,
  });

const logged = (text: string): Promise<boolean> =>
  eventually(`"${text}" in the log`, async () => (await readFile(logPath, "utf8")).includes(text));

test("a child that ends by itself reports its exit code and its last lines, and leaves the register", async () => {
  const child = await startShell("seq 100; echo last words >&2; exit 7");
  const end = await child.ended;
  expect(end.exitCode).toBe(7);
  expect(end.logTail.split("\n")).toHaveLength(12);
  expect(end.logTail).toMatch(/^90\n.*last words$/s);
  expect(await readdir(join(dataDir, "run"))).toEqual([]);
});

test.each([
  ["exit 0", 0],
  ["exit 1", 1],
  ["kill -KILL $$", 137],
])("a child that does %s ends with the exit code %i", async (script, exitCode) => {
  expect((await (await startShell(script)).ended).exitCode).toBe(exitCode);
});

test("a living child is registered and leads its own group", async () => {
  const child = await startShell("sleep 60");
  expect(await readFile(join(dataDir, "run/child.process"), "utf8")).toMatch(new RegExp(`^${child.pid} \\d+\n$`));
  expect(() => process.kill(-child.pid, 0)).not.toThrow();
  await child.stop(0);
});

test("a stop lets the child end in order", async () => {
  const child = await startShell("trap 'echo in order; exit 5' TERM; echo up; while :; do sleep 0.05; done");
  await logged("up");
  expect(await child.stop(10_000)).toMatchObject({ exitCode: 5, logTail: "up\nin order" });
});

test("a child that ignores SIGTERM is killed after the grace period, with its whole group", async () => {
  const child = await startShell("trap '' TERM; sleep 60 & echo $!; wait; sleep 60");
  await logged("\n");
  const member = Number(await readFile(logPath, "utf8"));
  const slow = child.stop(60_000);
  expect(await isAlive(child.pid)).toBe(true);
  expect((await child.stop(100)).exitCode).toBe(137);
  expect((await slow).exitCode).toBe(137);
  await eventually("the member of the group is gone", async () => !(await isAlive(member)));
});

test("members of the group that outlive the child are killed", async () => {
  // Fails by the wait for the end of the member.
  const child = await startShell("sleep 60 & echo $!");
  await child.ended;
  const member = Number(await readFile(logPath, "utf8"));
  await eventually("the member is gone", async () => !(await isAlive(member)));
});

test("a child inherits no variable of its parent", async () => {
  const child = await startShell("env");
  const { logTail } = await child.ended;
  expect(logTail).toContain("GIVEN=value");
  expect(logTail).not.toContain("HOME=");
});

test("a program that does not exist is reported as an end with a message, and not as a hang", async () => {
  const start = startChild({
    dataDir,
    name: "missing",
    command: ["/nonexistent/program"],
    env: {},
    cwd: dataDir,
    logPath,
    parentDeathSignal: "KILL",
  });
  const { exitCode, logTail } = await (await start).ended;
  expect(exitCode).not.toBe(0);
  expect(logTail).toContain("/nonexistent/program");
});

test("a new log empties the former one and other users can't read it", async () => {
  await writeFile(logPath, "from the run before");
  await startLog(logPath);
  expect(await readFile(logPath, "utf8")).toBe("");
  expect((await stat(logPath)).mode & 0o777).toBe(0o600);
});

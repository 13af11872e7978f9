/** What a supervised program leaves: nothing, however it, the supervisor or npm ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { eventually } from "../support/eventually.ts";
import { processesAround } from "../support/processes.ts";

const supervise = resolve(import.meta.dirname, "../../scripts/supervise.mjs");

/** Leaves a folder, and a process that a signal to the program's group does not reach; says what signal it got. */
const program = `
  import { spawn } from "node:child_process";
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  const [how] = process.argv.slice(2);
  mkdtempSync(join(tmpdir(), "made-"));
  if (how !== "clean") spawn("sleep", ["1000"], { detached: true, stdio: "ignore", env: { TMPDIR: tmpdir() } }).unref();
  process.on("SIGINT", () => { console.log("SIGINT"); process.exit(9); });
  process.on("SIGTERM", () => { console.log("SIGTERM"); process.exit(8); });
  console.log("up");
  if (how === "goes on") setInterval(() => undefined, 1000);
`;

let folder: string;
/** The temporary folder of the supervisor: the program's own is in it. */
let tmp: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "supervise-"));
  tmp = await mkdtemp(join(folder, "tmp-"));
  await writeFile(join(folder, "program.mjs"), program);
  const command = `true && exec ${process.execPath} ${supervise} ${process.execPath} ${folder}/program.mjs 'goes on'`;
  await writeFile(join(folder, "package.json"), JSON.stringify({ scripts: { supervised: command } }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Started = { child: ChildProcess; output(): string; exited: Promise<unknown[]> };

const start = (command: string, ...args: string[]): Started => {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const child = spawn(command, args, { cwd: folder, env: { PATH: path, HOME: folder, TMPDIR: tmp } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  return { child, output: () => output, exited: once(child, "exit") };
};

const supervised = (...args: string[]): Started =>
  start(process.execPath, supervise, process.execPath, join(folder, "program.mjs"), ...args);

const untilUp = ({ output }: Started) => eventually("the program is up", () => output().includes("up\n"));

const nothingIsLeft = () =>
  eventually("no process and no folder is left", async () => {
    const processes = await processesAround(tmp);
    return processes.length === 0 && (await readdir(tmp)).filter((name) => name.startsWith("bp-")).length === 0;
  });

test("a program that leaves nothing running ends with its own code, and its folder goes", async () => {
  const run = supervised("clean");
  expect(await run.exited).toEqual([0, null]);
  await nothingIsLeft();
});

test("a process that a program leaves is named, ended, and fails the run", async () => {
  const run = supervised();
  expect(await run.exited).toEqual([1, null]);
  expect(run.output()).toMatch(/left running, and ended now:\n {2}\d+ sleep 1000/);
  await nothingIsLeft();
});

describe.each([
  ["the supervisor", () => supervised("goes on")],
  ["npm", () => start("npm", "run", "supervised")],
] as const)("when %s gets", (_, startRun) => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s, the program gets it once, and nothing is left", async (signal) => {
    const run = startRun();
    await untilUp(run);
    run.child.kill(signal);
    await run.exited;
    expect(run.output().match(/^SIG\w+$/gm)).toEqual([signal]);
    await nothingIsLeft();
  });

  test("SIGKILL, nothing is left", async () => {
    const run = startRun();
    await untilUp(run);
    run.child.kill("SIGKILL");
    await run.exited;
    await nothingIsLeft();
  });
});

test("npm runs each command that starts programs below the supervisor, and no npm below another: it would not be told of a kill", () => {
  const isSupervised = /&& exec \.\/node_modules\/\.bin\/node scripts\/supervise\.mjs /;
  const others = Object.entries(manifest.scripts).filter(([, command]) => !isSupervised.test(command));
  expect(others.map(([name]) => name)).toEqual(["env", "doctor", "plots", "setup", "fix"]);
});

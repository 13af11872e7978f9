import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  endGroup,
  killRecordedGroups,
  recordProcessGroup,
  signalGroup,
} from "../../../src/platform/process/process-groups.ts";
import { runningIn } from "../../support/agent-process.ts";

let folder: string;
let file: string;
let started: number[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "process-groups-test-"));
  file = join(folder, "process-groups");
  started = [];
});
afterEach(async () => {
  for (const pgid of started.filter((each) => each > 1)) signalGroup(pgid, "SIGKILL");
  await rm(folder, { recursive: true });
});

/** Starts a new group: its leader, a shell, and a second process. */
const startGroup = async (): Promise<{ leader: ChildProcess; pgid: number }> => {
  const leader = spawn("/bin/sh", ["-c", "sleep 100 & echo up; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(leader.stdout, "data");
  const pgid = leader.pid ?? 0;
  started.push(pgid);
  return { leader, pgid };
};

test("recorded groups are killed with all their members, and the record is removed", async () => {
  const [one, two] = [await startGroup(), await startGroup()];
  await recordProcessGroup(file, one.pgid);
  await recordProcessGroup(file, two.pgid);
  expect(runningIn([one.pgid, two.pgid])).toHaveLength(4);
  await killRecordedGroups(file);
  expect(runningIn([one.pgid, two.pgid])).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test("members are killed when their leader has ended", async () => {
  const { leader, pgid } = await startGroup();
  await recordProcessGroup(file, pgid);
  leader.kill("SIGKILL");
  await once(leader, "exit");
  expect(runningIn([pgid])).toHaveLength(1);
  await killRecordedGroups(file);
  expect(runningIn([pgid])).toEqual([]);
});

test("a group whose members start others and end all the time is ended whole", async () => {
  const script = join(folder, "successors");
  const progress = join(folder, "progress");
  // Successors ignore SIGTERM too. The file has a new number with each of them.
  writeFileSync(script, `trap '' TERM\necho $1 > ${progress}\nif [ $1 -gt 0 ]; then sh ${script} $(($1 - 1)) & fi\n`);
  for (let round = 0; round < 5; round++) {
    const { pid: pgid = 0 } = spawn("/bin/sh", [script, "20000"], { detached: true, stdio: "ignore" });
    started.push(pgid);
    await expect.poll(() => existsSync(progress)).toBe(true);
    await endGroup(pgid, 1000);
    const atTheEnd = readFileSync(progress, "utf8");
    await sleep(300);
    expect(readFileSync(progress, "utf8")).toBe(atTheEnd);
    await rm(progress);
  }
});

test("a group whose leader started at another time belongs to another program and is left alone", async () => {
  const { pgid } = await startGroup();
  await recordProcessGroup(file, pgid);
  const [, startTime] = readFileSync(file, "utf8").trim().split(" ");
  writeFileSync(file, `${pgid} ${Number(startTime) - 1}\n`);
  await killRecordedGroups(file);
  expect(runningIn([pgid])).toHaveLength(2);
  expect(existsSync(file)).toBe(false);
});

test("a record with other lines, or no record, does no harm", async () => {
  await killRecordedGroups(file);
  const { pgid } = await startGroup();
  writeFileSync(file, `\n1 5\n0 5\n-1 5\nabc\n${pgid}\n`);
  await killRecordedGroups(file);
  expect(runningIn([pgid])).toHaveLength(2);
});

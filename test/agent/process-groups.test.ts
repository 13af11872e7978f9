import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { killRecordedGroups, recordProcessGroup } from "../../src/process/process-groups.ts";
import { runningIn } from "../support/agent-process.ts";

let folder: string;
let file: string;
let started: number[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "process-groups-test-"));
  file = join(folder, "process-groups");
  started = [];
});
afterEach(async () => {
  for (const pgid of started.filter((group) => runningIn([group]).length > 0)) process.kill(-pgid, "SIGKILL");
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

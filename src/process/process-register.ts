/**
 * The process register: one file for every living child in `<data dir>/run`, so that the next start can end what a
 * killed run left behind. A process is named by its id and its start time, never by its name: a process id that was
 * given out again is someone else's.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { killRecordedGroups, recordProcessGroup } from "./process-groups.ts";

const folderOf = (dataDir: string): string => join(dataDir, "run");
const suffix = ".process";
const fileOf = (dataDir: string, name: string): string => join(folderOf(dataDir), `${name}${suffix}`);

/** `pid`: leader of a process group. Rejects when the entry can't be written. */
export const registerProcess = async (dataDir: string, name: string, pid: number): Promise<void> => {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 });
  await recordProcessGroup(fileOf(dataDir, name), pid);
};

/** Drops the entry of a process that has ended. An entry that is not there is no error. */
export const forgetProcess = (dataDir: string, name: string): Promise<void> =>
  rm(fileOf(dataDir, name), { force: true });

/** Kills every registered process with its group and empties the register. */
export const killRegisteredProcesses = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  const entries = files.filter((file) => file.endsWith(suffix));
  await Promise.all(entries.map((file) => killRecordedGroups(join(folderOf(dataDir), file))));
};

/** Drops the entries without touching a process: after a reboot they name processes that can't live any more. */
export const clearRegister = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  await Promise.all(
    files.filter((file) => file.endsWith(suffix)).map((file) => rm(join(folderOf(dataDir), file), { force: true })),
  );
};

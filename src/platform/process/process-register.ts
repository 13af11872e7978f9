/**
 * The process register: one file for every living child in `<data dir>/run`, so that the next start can end the processes
 * that a killed run left behind. Id and start time together identify a process, because the kernel reuses ids; its name never
 * does.
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

/** Drops the entry of a process that has ended. A missing entry is no error. */
export const forgetProcess = (dataDir: string, name: string): Promise<void> =>
  rm(fileOf(dataDir, name), { force: true });

/** Kills every registered process with its group and empties the register. */
export const killRegisteredProcesses = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  const entries = files.filter((file) => file.endsWith(suffix));
  await Promise.all(entries.map((file) => killRecordedGroups(join(folderOf(dataDir), file))));
};

/** Drops all entries and signals no process: after a reboot their processes can't live any more. */
export const clearRegister = async (dataDir: string): Promise<void> => {
  const files = await readdir(folderOf(dataDir)).catch(() => []);
  await Promise.all(
    files.filter((file) => file.endsWith(suffix)).map((file) => rm(join(folderOf(dataDir), file), { force: true })),
  );
};

import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAtHomeIn, endProcessesOf } from "../platform/process/marked-processes.ts";
import { clearRegister, killRecordedGroups, killRegisteredProcesses } from "../platform/process/process-groups.ts";

/** The folder of the pods' files, with one folder for each pod, named by its uid. */
export const podsFolder = (dataDir: string): string => join(dataDir, "pods");

/**
 * The temp folder of a pod, outside of its folder and with a short name: a path of Chromium's sockets has at most 107
 * characters.
 */
export const podTempFolder = (uid: string): string => join(tmpdir(), `bp-${uid.slice(0, 8)}`);

/** The folder of the pods' output, one file for each pod. */
export const podLogsFolder = (dataDir: string): string => join(dataDir, "logs", "pods");

/** The file in a pod's folder in which its agent records the process groups of its own children. */
const processGroupsFile = (podDir: string): string => join(podDir, "process-groups");

const remove = { recursive: true, force: true, maxRetries: 5, retryDelay: 100 };

/**
 * Ends what a pod's program has started and did not end. Of a pod that has a user of its own, who has written what is in
 * its folder, that is every process of the user.
 */
export const endPodProcesses = async (podDir: string): Promise<void> => {
  const user = (await lstat(podDir).catch(() => undefined))?.uid;
  if (user !== undefined && user !== process.getuid?.()) return endProcessesOf(user);
  await killRecordedGroups(processGroupsFile(podDir));
  await endAtHomeIn(podDir);
};

/** As far as it can: the former try to remove them may still be at work. */
const makeWritable = async (folder: string): Promise<void> => {
  await chmod(folder, 0o700).catch(() => undefined);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
};

/** What an agent has received is in folders that even their owner may not write to. Root may. */
const removeFolder = async (folder: string): Promise<void> => {
  try {
    await rm(folder, remove);
  } catch {
    await makeWritable(folder);
    await rm(folder, remove);
  }
};

/** Removes the pod's folder and its temp folder. */
export const removePodFolders = async (dataDir: string, uid: string): Promise<void> => {
  for (const folder of [join(podsFolder(dataDir), uid), podTempFolder(uid)]) await removeFolder(folder);
};

/**
 * Cleans up after a killed run: ends its programs, agents and browsers, and removes the folders and logs of its pods.
 * Call it with the data directory locked, before anything is started. `isAfterReboot`: no process can be alive, so only
 * files are removed.
 */
export const endLeftovers = async (dataDir: string, { isAfterReboot }: { isAfterReboot: boolean }): Promise<void> => {
  const uids = await readdir(podsFolder(dataDir)).catch(() => []);
  const podDirs = uids.map((uid) => join(podsFolder(dataDir), uid));
  if (isAfterReboot) await clearRegister(dataDir);
  else {
    // Agents first: a live agent could start another browser.
    await killRegisteredProcesses(dataDir);
    await Promise.all(podDirs.map(endPodProcesses));
    await endAtHomeIn(podsFolder(dataDir));
  }
  await Promise.all(uids.map((uid) => removePodFolders(dataDir, uid)));
  await rm(podLogsFolder(dataDir), remove);
};

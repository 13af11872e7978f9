import { readdir, readFile, readlink } from "node:fs/promises";
import { eventually } from "./eventually.ts";

export type SeenProcess = { pid: number; commandLine: string };

const read = async (pid: string): Promise<SeenProcess & { cwd: string; environment: string; state: string }> => {
  const [commandLine, cwd, environment, stat] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    readlink(`/proc/${pid}/cwd`).catch(() => ""),
    readFile(`/proc/${pid}/environ`, "latin1").catch(() => ""),
    readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""),
  ]);
  const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  return { pid: Number(pid), commandLine: commandLine.replaceAll("\0", " "), cwd, environment, state };
};

const isOver = (state: string): boolean => state === "" || state === "Z";

/** False also for a zombie, whose parent may never wait for it. */
export const isAlive = async (pid: number): Promise<boolean> => !isOver((await read(`${pid}`)).state);

/**
 * Freezes a process, and resolves when it stands: on a busy machine it goes on for a moment after the signal. A
 * negative id is that of a group, as for `process.kill`; then its leader stands. SIGCONT lets it continue.
 */
export const freeze = async (pid: number | undefined): Promise<void> => {
  // Number 0 would be the group of the tests.
  if (!pid) throw new Error("there is no process to freeze");
  process.kill(pid, "SIGSTOP");
  await eventually(`process ${pid} stands`, async () => (await read(`${Math.abs(pid)}`)).state === "T");
};

type Process = Awaited<ReturnType<typeof read>>;

const livingProcesses = async (isWanted: (process: Process) => boolean): Promise<SeenProcess[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return (await Promise.all(pids.map(read))).filter((one) => !isOver(one.state) && isWanted(one));
};

/** Living processes that run in the folder or name it on their command line, except this one. */
export const processesOf = (folder: string): Promise<SeenProcess[]> =>
  livingProcesses(({ commandLine, cwd }) => cwd.startsWith(folder) || commandLine.includes(folder));

/** Also those that have the folder in their environment. */
export const processesAround = (folder: string): Promise<SeenProcess[]> =>
  livingProcesses(({ commandLine, cwd, environment }) =>
    [commandLine, cwd, environment].some((text) => text.includes(folder)),
  );

/** The one process of the folder whose program has this name. */
export const processNamed = async (folder: string, name: string): Promise<SeenProcess> => {
  const found = (await processesOf(folder)).filter(({ commandLine }) =>
    (commandLine.split(" ")[0] ?? "").includes(name),
  );
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`${found.length} processes named ${name} in ${folder}`);
  return only;
};

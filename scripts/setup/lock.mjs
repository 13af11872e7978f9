import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetupError } from "./setup-error.mjs";

/** Interval at which a waiting set-up checks the lock, ms. */
const lookEveryMs = 250;

/** Longest wait for another set-up, ms: several times the build of everything on a small machine. */
const longestWaitMs = 45 * 60_000;

/**
 * The start time of a process since boot; "" when the process has ended or the system has no /proc. With it, a process that
 * reuses the pid is not taken for the lock's holder.
 * @param {number} pid
 */
const startTime = (pid) => {
  try {
    // Field 22 of stat. The name before it is in parentheses and can contain spaces.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
};

/** @param {string} holder content of a lock file, `<pid> <start time>` */
const isAlive = (holder) => {
  const [pid = "", started = ""] = holder.trim().split(" ");
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
  return started === startTime(Number(pid));
};

/** @param {string} file @returns {string | undefined} */
const readHolder = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

/** Creates the lock together with its content, so that no reader sees a lock without a holder. @param {string} file */
const tryTake = (file) => {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, `${process.pid} ${startTime(process.pid)}`);
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own);
  }
};

/** Removes the lock of a process that has ended. @param {string} file */
const removeStale = (file) => {
  const holder = readHolder(file);
  if (holder !== undefined && !isAlive(holder) && readHolder(file) === holder) rmSync(file, { force: true });
};

/**
 * Takes the lock `file`, so that two set-ups don't install the same things, and returns the function that releases it. While
 * another living process holds the lock, it waits and calls `onWait` once with that process's pid. Rejects with a SetupError
 * after 45 minutes, and with the signal's reason when `signal` fires.
 * @param {string} file
 * @param {{ signal: AbortSignal, onWait: (pid: string) => void }} options
 */
export const takeLock = async (file, { signal, onWait }) => {
  mkdirSync(dirname(file), { recursive: true });
  const giveUpAtMs = Date.now() + longestWaitMs;
  for (let waiting = false; !tryTake(file); ) {
    removeStale(file);
    const holder = readHolder(file);
    if (holder && !waiting) {
      waiting = true;
      onWait(holder.split(" ")[0] ?? "");
    }
    if (Date.now() > giveUpAtMs)
      throw new SetupError("another set-up has been running for 45 minutes", {
        wayOut: `Look at process ${holder?.split(" ")[0]}; when it is not a set-up, delete ${file} and run again.`,
      });
    await sleep(lookEveryMs, undefined, { signal });
  }
  return () => rmSync(file, { force: true });
};

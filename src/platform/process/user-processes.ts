import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Processes may start others while they are being killed, so the search is repeated until it finds none. */
const maxRounds = 200;
const pauseMs = 10;

/** The processes of a user, but for zombies. */
const processesOf = (user: number): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "latin1");
        return new RegExp(`^Uid:\\t${user}\\t`, "m").test(status) && !/^State:\t[ZX]/m.test(status);
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);

/** Kills all processes of a user who has no others, and waits until none is left. Throws when one remains. */
export const endProcessesOf = async (user: number): Promise<void> => {
  for (let round = 0; round < maxRounds; round += 1) {
    const pids = processesOf(user);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
    await sleep(pauseMs);
  }
  throw new Error(`processes of user ${user} could not be ended`);
};

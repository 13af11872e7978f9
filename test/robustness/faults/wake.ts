import { setTimeout as sleep } from "node:timers/promises";
import type { Replica } from "../topology/replica.ts";

/** Between two tries, ms. */
const againMs = 100;

/**
 * Has a process go on that stands still, and that was to stand still at a point of its own: it may come to that point
 * before it has read that it need not do so any more. What it is asked next it answers after that.
 */
export const wake = async (replica: Replica): Promise<void> => {
  const program = replica.program();
  const hook = replica.hook();
  hook.killAt(undefined);
  let isAwake = false;
  const answered = hook.sample().then(() => {
    isAwake = true;
  });
  while (!isAwake) {
    program.thaw();
    await Promise.race([answered, sleep(againMs)]);
  }
};

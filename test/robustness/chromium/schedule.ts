import { seededRandom } from "../../support/seeded-random.ts";
import type { Victim } from "./crash.ts";

/** held: while a client uses it; idle: in the pool; handing-over: around the release, with others waiting. */
type Moment = "held" | "idle" | "handing-over";
export type Crash = { victim: Victim; moment: Moment; afterMs: number };
/** How one stay goes; `crash` comes on top of it, one of `idle` before it begins. */
export type StayPlan = { reuse: boolean; pauseMs: number; crash: Crash | undefined };

const victims: Victim[] = ["chromium", "agent"];
const moments: Moment[] = ["held", "idle", "handing-over"];

/** Share of stays after which the browser is used again. */
const reuseShare = 0.6;
const longestPauseMs = 20;
/** A release takes a few ms from being sent to the next holder's answer: kills fall before, into and after it. */
const longestHandOverMs = 10;

export type Schedule = {
  /** The next stay, when `done` hand-overs are behind us; undefined when there is nothing left to do. */
  next(done: number): StayPlan | undefined;
};

/** Spreads the crashes evenly over the hand-overs; all kinds equally often. The same for the same seed. */
export const createSchedule = (load: { handOvers: number; crashes: number; seed: number }): Schedule => {
  const random = seededRandom(load.seed);
  const crashes = Array.from(
    { length: load.crashes },
    (_, index): Crash => ({
      moment: moments[index % moments.length] ?? "held",
      victim: victims[Math.floor(index / moments.length) % victims.length] ?? "chromium",
      afterMs: random() * longestHandOverMs,
    }),
  );
  let made = 0;
  return {
    next(done) {
      if (done >= load.handOvers && made >= crashes.length) return undefined;
      const isDue = made < crashes.length && done >= ((made + 0.5) * load.handOvers) / crashes.length;
      const crash = isDue ? crashes[made] : undefined;
      if (isDue) made += 1;
      const reuse = random() < reuseShare || crash?.moment === "handing-over";
      return { reuse, pauseMs: random() * longestPauseMs, crash };
    },
  };
};

/** Lets several runs of asynchronous code go on one at a time, in an order that the test chooses. */

export type InTurn = {
  /** Begins a run. It goes on at once until it waits for its turn. */
  begin(run: () => Promise<void>): void;
  /** Call it within a run: resolves when the run may go on. Meanwhile others may. */
  turn(): Promise<void>;
  /** Resolves when all runs have ended; rejects with the first error of one. */
  ended(): Promise<void>;
};

/** `choices`: which of those that wait goes on next, again from the start when they are used up. */
export const createInTurn = (choices: readonly number[]): InTurn => {
  const waiting: (() => void)[] = [];
  const runs: Promise<void>[] = [];
  let working = 0;
  let chosen = 0;
  const next = (): void => {
    working -= 1;
    if (working > 0 || waiting.length === 0) return;
    const choice = choices[chosen++ % choices.length] ?? 0;
    working += 1;
    waiting.splice(choice % waiting.length, 1)[0]?.();
  };
  return {
    begin(run) {
      working += 1;
      runs.push(run().finally(next));
    },
    turn: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        next();
      }),
    async ended() {
      for (let index = 0; index < runs.length; index++) await runs[index];
    },
  };
};

export type Interleaved = {
  seconds: number;
  /**
   * Calls of one variant in a row before the next variant. A few in a row keep its caches as warm as they are when it
   * runs alone.
   */
  batch: number;
  random: () => number;
  signal: AbortSignal;
  /** Called after each batch, outside of the measured time. */
  tidy?: () => Promise<void>;
};

/**
 * Measures several ways to do the same thing, in turns and in a new order each round, so that other work of the machine
 * affects all of them alike. Returns every time, ms, by variant. The first round does not count.
 */
export const interleaved = async <Name extends string>(
  { seconds, batch, random, signal, tidy }: Interleaved,
  variants: Record<Name, () => Promise<unknown>>,
): Promise<Record<Name, number[]>> => {
  const names = Object.keys(variants) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const round = async (): Promise<void> => {
    const order = names.map((name) => ({ name, at: random() })).sort((a, b) => a.at - b.at);
    for (const { name } of order) {
      for (let index = 0; index < batch; index++) {
        signal.throwIfAborted();
        const beganMs = performance.now();
        await variants[name]();
        times[name].push(performance.now() - beganMs);
      }
      await tidy?.();
    }
  };
  await round();
  for (const name of names) times[name].length = 0;
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) await round();
  return times;
};

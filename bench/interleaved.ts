export type Interleaved = {
  seconds: number;
  /** Calls of one variant in a row before it is another one's turn: some, so that its caches are as warm as they would be alone. */
  batch: number;
  random: () => number;
  signal: AbortSignal;
  /** Called after each batch, outside of the time. */
  tidy?: () => Promise<void>;
};

/**
 * Times several ways to do the same thing, in turns and in a new order each round, so that whatever else the machine does
 * in the meantime falls on all of them alike. Returns every time, ms, by variant. The first round does not count.
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

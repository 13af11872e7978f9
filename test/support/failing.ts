/** Work that throws `error` the first `failures` times, and then returns how often it was called. */
export const failing = (failures: number, error: Error): { work: () => Promise<number>; calls: () => number } => {
  let calls = 0;
  const work = async (): Promise<number> => {
    calls += 1;
    if (calls <= failures) throw error;
    return calls;
  };
  return { work, calls: () => calls };
};

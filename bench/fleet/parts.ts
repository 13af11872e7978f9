/** What each part of the installation uses of the machine, from /proc. */
import { cpuSecondsOf, processesBelow } from "../process-time.ts";

/** Pids by the name of the part that they are. */
export type Parts = ReadonlyMap<string, readonly number[]>;
/** Cores that each part kept busy on average, by its name. */
export type Cores = Record<string, number>;

const infrastructure = ["kube-apiserver", "etcd", "redis-server"];

/** Programs below this process that are none of ours: the API server, etcd and Redis. */
export const findInfrastructure = async (): Promise<Map<string, number[]>> => {
  const parts = new Map<string, number[]>();
  for (const { pid, name } of await processesBelow(process.pid)) {
    const part = infrastructure.find((one) => name.startsWith(one));
    if (part !== undefined) parts.set(part, [...(parts.get(part) ?? []), pid]);
  }
  return parts;
};

const secondsOf = async (parts: Parts): Promise<Cores> =>
  Object.fromEntries(
    await Promise.all([...parts].map(async ([name, pids]) => [name, await cpuSecondsOf(...pids)] as const)),
  );

/** Begins to count; the function that it gives tells the cores since then. */
export const countCores = async (parts: Parts): Promise<() => Promise<Cores>> => {
  const [before, beganMs] = [await secondsOf(parts), performance.now()];
  return async () => {
    const [after, seconds] = [await secondsOf(parts), (performance.now() - beganMs) / 1000];
    return Object.fromEntries(
      [...parts.keys()].map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / seconds]),
    );
  };
};

/** `operator 0.31, api 0.20, …`, the busiest first, without those that are idle. */
export const describeCores = (cores: Cores): string =>
  Object.entries(cores)
    .filter(([, busy]) => busy >= 0.005)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, busy]) => `${name} ${busy.toFixed(2)}`)
    .join(", ");

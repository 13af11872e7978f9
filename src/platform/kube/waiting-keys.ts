/** `limits`: keys worked on at the same time, by lane. `of`: the lane of a key now; asked each time that the key is added. */
export type Lanes<Lane extends string = string> = { limits: Readonly<Record<Lane, number>>; of(key: string): Lane };

type Taken = { key: string; leave(): void };

/** The keys that wait, each once, and how many of each lane are worked on. */
type WaitingKeys = {
  /** A key that waits in another lane changes over to its present one. */
  add(key: string): void;
  /** The keys for which there is room now. `leave` makes room again. */
  take(): Generator<Taken>;
  size(): number;
  clear(): void;
};

/** No key yet. `concurrency`: keys worked on at the same time, in all or by lane. */
export const createWaitingKeys = (concurrency: number | Lanes): WaitingKeys => {
  const { limits, of }: Lanes =
    typeof concurrency === "number" ? { limits: { all: concurrency }, of: () => "all" } : concurrency;
  const lanes = new Map(
    Object.entries(limits).map(([name, limit]) => [name, { limit, active: 0, keys: new Set<string>() }]),
  );
  const laneOf = new Map<string, string>();
  return {
    add(key) {
      const name = of(key);
      const before = laneOf.get(key);
      if (before === name) return;
      if (before !== undefined) lanes.get(before)?.keys.delete(key);
      lanes.get(name)?.keys.add(key);
      laneOf.set(key, name);
    },
    *take() {
      for (const lane of lanes.values())
        for (const key of lane.keys) {
          if (lane.active >= lane.limit) break;
          lane.keys.delete(key);
          laneOf.delete(key);
          lane.active += 1;
          const leave = (): void => {
            lane.active -= 1;
          };
          yield { key, leave };
        }
    },
    size: () => laneOf.size,
    clear() {
      for (const { keys } of lanes.values()) keys.clear();
      laneOf.clear();
    },
  };
};

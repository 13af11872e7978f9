/** How the counts of pools have been since this window opened: a bounded number of looks, each when one changed. */
import { signal } from "@preact/signals";
import { pools } from "./live.ts";
import { type Pool, poolCounts } from "./pool-state.ts";

type Counts = ReturnType<typeof poolCounts>;

/** A look at a pool. `at`: ms since 1970. */
type Look = Counts & { at: number };

/** Looks that are kept of each pool. */
const mostLooks = 600;

const history = new Map<string, Look[]>();

/** Grows with each look. */
export const historyVersion = signal(0);

const isSame = (a: Counts, b: Counts): boolean =>
  a.size === b.size &&
  a.available === b.available &&
  a.held === b.held &&
  a.starting === b.starting &&
  a.waiting === b.waiting;

const look = (pool: Pool, at: number): void => {
  const looks = history.get(pool.id) ?? [];
  history.set(pool.id, looks);
  const counts = poolCounts(pool);
  const last = looks.at(-1);
  if (last && isSame(last, counts)) return;
  looks.push({ ...counts, at });
  if (looks.length > mostLooks) looks.shift();
};

pools.version.subscribe(() => {
  const at = Date.now();
  for (const pool of pools.byId.values()) look(pool, at);
  for (const id of history.keys()) if (!pools.byId.has(id)) history.delete(id);
  historyVersion.value += 1;
});

/** The looks at a pool, the oldest first; the last one is of now. */
export const looksAt = (id: string, now: number): readonly Look[] => {
  const looks = history.get(id) ?? [];
  const last = looks.at(-1);
  return last ? [...looks, { ...last, at: now }] : [];
};

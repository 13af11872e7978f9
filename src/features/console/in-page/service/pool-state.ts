/** What a pool is like, in words: the same wherever it is shown. */
import type { BrowserPoolAnswer } from "../../../../core/model/pools/browser-pool-wire.ts";
import type { Tone } from "../parts/state.tsx";

export type Pool = BrowserPoolAnswer;

/** `why`: the sentence of the operator that says the most; "" when all is well. */
type PoolState = { tone: Tone; word: string; why: string };

const conditionOf = ({ conditions = [] }: Pool, type: string) => conditions.find((each) => each.type === type);

/** The state by the operator's conditions. */
export const poolState = (pool: Pool): PoolState => {
  const [accepted, ready, progressing] = ["Accepted", "Ready", "Progressing"].map((type) => conditionOf(pool, type));
  if (ready?.reason === "Deleting") return { tone: "quiet", word: "Deleting", why: progressing?.message ?? "" };
  if (accepted?.status === "False") return { tone: "bad", word: "Refused", why: accepted.message };
  if (ready?.status === "True") return { tone: "good", word: "Ready", why: "" };
  if (!ready) return { tone: "quiet", word: "New", why: "The operator has not looked at it yet." };
  if (progressing?.reason === "Paused") return { tone: "warn", word: "Paused", why: progressing.message };
  const isFilling = progressing?.reason === "Filling";
  return {
    tone: isFilling ? "quiet" : "warn",
    word: isFilling ? "Filling" : "Not filled",
    why: progressing?.message ?? ready.message,
  };
};

/** How many browsers the pool shall have, and how many of them are in which state. */
export const poolCounts = (pool: Pool) => ({
  size: pool.browser_pool_config.size,
  available: pool.available_count,
  held: pool.acquired_count,
  starting: pool.starting_count,
  waiting: pool.waiting_count,
});

/** The name of a pool, or its id when it has none. */
export const poolName = ({ name, id }: { name?: string | undefined; id: string }): string => name || id;

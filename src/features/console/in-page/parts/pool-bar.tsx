import { type Pool, poolCounts } from "../service/pool-state.ts";
import { ShareBar } from "./share-bar.tsx";

/** How the browsers of a pool are used. */
export const PoolBar = ({ pool }: { pool: Pool }) => {
  const { size, available, held, starting, waiting } = poolCounts(pool);
  return (
    <ShareBar
      label={`Of ${size}, with ${waiting} waiting`}
      whole={size}
      parts={[
        { tone: "accent", count: held, word: "held" },
        { tone: "good", count: available, word: "available" },
        { tone: "warn", count: starting, word: "starting" },
      ]}
    />
  );
};

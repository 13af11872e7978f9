import { type Pool, poolCounts } from "../service/pool-state.ts";

/** How the browsers of a pool are used, as a bar with its numbers in words. */
export const PoolBar = ({ pool }: { pool: Pool }) => {
  const { size, available, held, starting, waiting } = poolCounts(pool);
  const words = `${available} available, ${held} held, ${starting} starting of ${size}; ${waiting} waiting`;
  const whole = Math.max(1, size, available + held + starting);
  const part = (count: number): { width: string } => ({ width: `${(count / whole) * 100}%` });
  return (
    <span class="pool-bar" role="img" aria-label={words} title={words}>
      <span class="held" style={part(held)} />
      <span class="available" style={part(available)} />
      <span class="starting" style={part(starting)} />
    </span>
  );
};

/** What one pool has of something that is bounded. */
export type Holding = { pool: string; project: string; amount: number };

/** The amount above which each holder gives away, so that all together keep `allowed`; Infinity when nobody has to. */
const levelOf = (amounts: number[], allowed: number): number => {
  let left = allowed;
  for (const [index, amount] of amounts.toSorted((a, b) => a - b).entries()) {
    const even = left / (amounts.length - index);
    if (amount > even) return Math.max(0, even);
    left -= amount;
  }
  return Number.POSITIVE_INFINITY;
};

const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);

/**
 * How much each pool may keep so that all together keep at most `allowed`: the largest projects give first, and in each
 * of them the largest pools. So a project or pool with little keeps all of it, whatever the others do. Whole numbers,
 * rounded down.
 */
export const fairShares = (holdings: Holding[], allowed: number): Map<string, number> => {
  const projects = [...Map.groupBy(holdings, ({ project }) => project).values()];
  const projectLevel = levelOf(
    projects.map((own) => sum(own.map(({ amount }) => amount))),
    allowed,
  );
  return new Map(
    projects.flatMap((own) => {
      const level = levelOf(
        own.map(({ amount }) => amount),
        projectLevel,
      );
      return own.map(({ pool, amount }): [string, number] => [pool, Math.floor(Math.min(amount, level))]);
    }),
  );
};

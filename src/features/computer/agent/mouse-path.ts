/** Ways of the mouse from one point to another, as a person's hand moves it: curved, quick in the middle, slow at the end. */

type Point = { x: number; y: number };

/** A place of the mouse, and the time until it is there, ms from the begin. */
export type TimedPoint = Point & { atMs: number };

/** Time between two places, ms: a mouse tells of itself about a hundred times a second. */
const stepMs = 10;

/** Fitts' law, with the constants of a mouse on a desk: a short way takes 150 ms, a long one about 700. */
const usualMs = (distance: number): number => Math.round(100 + 100 * Math.log2(distance / 40 + 1));

const distanceOf = (from: Point, to: Point): number => Math.hypot(to.x - from.x, to.y - from.y);

/** The share of the way after a share of the time: begins and ends slowly (minimum jerk). */
const eased = (time: number): number => time ** 3 * (10 - 15 * time + 6 * time ** 2);

const between = (from: number, to: number, share: number): number => from + (to - from) * share;

/** A point of the way, moved aside by a part of its length. */
const bent = (from: Point, to: Point, share: number, aside: number): Point => ({
  x: between(from.x, to.x, share) - (to.y - from.y) * aside,
  y: between(from.y, to.y, share) + (to.x - from.x) * aside,
});

const bezier = (points: readonly [Point, Point, Point, Point], share: number): Point => {
  const rest = 1 - share;
  const weights = [rest ** 3, 3 * rest ** 2 * share, 3 * rest * share ** 2, share ** 3] as const;
  const sum = (axis: "x" | "y"): number =>
    points.reduce((total, point, index) => total + point[axis] * (weights[index] ?? 0), 0);
  return { x: Math.round(sum("x")), y: Math.round(sum("y")) };
};

/**
 * The way from a point to another, which is its last place. `durationMs`: left out, by the distance. `random`: gives
 * numbers from 0 up to 1, by which no two ways are the same.
 */
export const smoothPath = (
  { from, to, durationMs }: { from: Point; to: Point; durationMs?: number | undefined },
  random: () => number,
): TimedPoint[] => {
  const takesMs = durationMs ?? usualMs(distanceOf(from, to));
  const steps = Math.max(1, Math.round(takesMs / stepMs));
  // Both to one side: a hand turns about the elbow.
  const side = random() < 0.5 ? -1 : 1;
  const aside = (): number => side * (0.03 + 0.12 * random());
  const curve = [from, bent(from, to, 0.3, aside()), bent(from, to, 0.7, aside()), to] as const;
  return Array.from({ length: steps }, (_, index) => {
    const time = (index + 1) / steps;
    return { ...bezier(curve, eased(time)), atMs: Math.round(time * takesMs) };
  });
};

/** The way through points in straight lines, of so many steps between two of them. */
export const straightPath = (
  points: readonly Point[],
  { steps, pauseMs }: { steps: number; pauseMs: number },
): TimedPoint[] => {
  const way: TimedPoint[] = [];
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (!from) continue;
    for (let step = 1; step <= steps; step += 1) {
      const share = step / steps;
      const place = { x: Math.round(between(from.x, to.x, share)), y: Math.round(between(from.y, to.y, share)) };
      way.push({ ...place, atMs: (way.length + 1) * pauseMs });
    }
  }
  return way;
};

/** The way through points in curves. `durationMs`: of all of it; left out, by the distances. */
export const smoothPathThrough = (
  points: readonly Point[],
  durationMs: number | undefined,
  random: () => number,
): TimedPoint[] => {
  const legs = points.slice(1).map((to, index) => ({ from: points[index] as Point, to }));
  const whole = legs.reduce((sum, { from, to }) => sum + distanceOf(from, to), 0);
  const way: TimedPoint[] = [];
  for (const leg of legs) {
    const share = whole === 0 ? 1 / legs.length : distanceOf(leg.from, leg.to) / whole;
    const begin = way.at(-1)?.atMs ?? 0;
    const own = durationMs === undefined ? undefined : durationMs * share;
    way.push(...smoothPath({ ...leg, durationMs: own }, random).map((at) => ({ ...at, atMs: begin + at.atMs })));
  }
  return way;
};

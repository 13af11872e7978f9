/**
 * Loads that show how an autoscaled pool follows them. In slow motion: quiet times of seconds, where an installation
 * has minutes.
 */

/** `seconds`: how long it is watched. `callers`: how many want a browser at this second. */
export type Scenario = {
  name: string;
  title: string;
  seconds: number;
  /** `now`: when the scenario begins. */
  autoscale(now: Date): { max: number; scale_down_after_seconds: number } & Record<string, unknown>;
  callers(second: number): number;
};

const triangle = (second: number, top: number, length: number): number =>
  Math.max(0, Math.round(top * (1 - Math.abs((2 * second) / length - 1))));

/** hh:mm by UTC. */
const timeOfDay = (ms: number): string => new Date(ms).toISOString().slice(11, 16);

/** The first whole minute that is 10 s or more away. */
const nextMinute = (now: Date): number => Math.ceil((now.getTime() + 10_000) / 60_000) * 60_000;

/** In the order of the page. */
export const scenarios: readonly Scenario[] = [
  {
    name: "square-wave",
    title: "Square wave: gaps of 10 s, quiet time 20 s",
    seconds: 120,
    autoscale: () => ({ min: 2, max: 20, buffer: "20%", scale_down_after_seconds: 20 }),
    callers: (second) => (second >= 5 && second < 85 && (second - 5) % 20 < 10 ? 10 : 0),
  },
  {
    name: "ramp",
    title: "Ramp up and down in 80 s, quiet time 10 s",
    seconds: 110,
    autoscale: () => ({ min: 2, max: 20, buffer: 2, scale_down_after_seconds: 10 }),
    callers: (second) => triangle(second - 5, 16, 80),
  },
  {
    name: "schedule",
    title: "A window of one minute with min 8 and max 12, quiet time 10 s",
    seconds: 150,
    autoscale(now) {
      const start = nextMinute(now);
      const window = { start: timeOfDay(start), end: timeOfDay(start + 60_000), min: 8, max: 12 };
      return { min: 1, max: 4, buffer: "20%", scale_down_after_seconds: 10, schedule: [window] };
    },
    callers: () => 2,
  },
  {
    name: "to-zero",
    title: "To zero and back: min 0, no buffer, quiet time 10 s",
    seconds: 100,
    autoscale: () => ({ min: 0, max: 4, buffer: 0, scale_down_after_seconds: 10 }),
    callers: (second) => ([5, 40, 75].some((begin) => second >= begin && second < begin + 8) ? 2 : 0),
  },
];

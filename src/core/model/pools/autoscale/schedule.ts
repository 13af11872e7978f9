/**
 * The bounds of an autoscaled pool at a time. A window is compared with the clock on the wall of its time zone, so it
 * begins at the same time of day in summer and in winter: one whose start is skipped begins when the clock jumps, one
 * that falls into a repeated hour is there twice.
 */
import { type Autoscale, type ScheduleWindow, weekdays } from "../autoscale.ts";

export type SizeBounds = { min: number; max: number };

/** `day`: 0 is Monday; `minute`: of the day. */
type WallTime = { day: number; minute: number };

/** Throws a RangeError for a time zone that there is not. */
const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });

const wallTime = (timeZone: string, nowMs: number): WallTime => {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(nowMs)
      .map(({ type, value }) => [type, value]),
  );
  const names: readonly string[] = weekdays;
  return {
    day: names.indexOf(parts.get("weekday") ?? ""),
    minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")),
  };
};

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const isOpen = (window: ScheduleWindow, nowMs: number): boolean => {
  const { day, minute } = wallTime(window.timeZone, nowMs);
  const [start, end] = [minuteOf(window.start), minuteOf(window.end)];
  const beginsOn = (one: number): boolean => window.days.some((name) => weekdays.indexOf(name) === one);
  if (start < end) return beginsOn(day) && start <= minute && minute < end;
  return (beginsOn(day) && start <= minute) || (beginsOn((day + 6) % 7) && minute < end);
};

/** The bounds that are in force; of windows that overlap, the highest. `nowMs`: since the epoch. */
export const boundsAt = ({ min, max, schedule = [] }: Autoscale, nowMs: number): SizeBounds => {
  const open = schedule.filter((window) => isOpen(window, nowMs));
  if (open.length === 0) return { min, max };
  return {
    min: Math.max(...open.map((window) => window.min ?? min)),
    max: Math.max(...open.map((window) => window.max ?? max)),
  };
};

/**
 * When other bounds may come into force at the earliest: windows begin and end at whole minutes. Undefined without
 * windows.
 */
export const nextBoundsMs = ({ schedule = [] }: Autoscale, nowMs: number): number | undefined =>
  schedule.length === 0 ? undefined : 60_000 - (nowMs % 60_000);

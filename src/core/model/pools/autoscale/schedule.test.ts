import { describe, expect, test } from "vitest";
import { Autoscale } from "../autoscale.ts";
import { boundsAt, nextBoundsMs } from "./schedule.ts";

const at = (text: string): number => Date.parse(text);

/** A pool of 1 to 10, and what each window gives it. */
const bounds = (schedule: object[], time: string) => boundsAt(Autoscale.parse({ min: 1, max: 10, schedule }), at(time));
const isOpen = (window: object, time: string): boolean => bounds([{ ...window, min: 5 }], time).min === 5;

const workday = { days: ["Mon", "Tue", "Wed", "Thu", "Fri"], start: "08:00", end: "18:00", timeZone: "Europe/Berlin" };

// POOL-27
describe("a window of a schedule", () => {
  test.each<[string, string, boolean]>([
    ["just before it begins", "2026-01-05T06:59:59Z", false],
    ["when it begins, by the winter time of its zone", "2026-01-05T07:00:00Z", true],
    ["in its last second", "2026-01-05T16:59:59Z", true],
    ["when it is over", "2026-01-05T17:00:00Z", false],
    ["on another day", "2026-01-04T12:00:00Z", false],
    ["when it begins in summer, an hour earlier by UTC", "2026-07-06T06:00:00Z", true],
    ["an hour before that", "2026-07-06T05:59:59Z", false],
  ])("is open or not %s", (_when, time, expected) => {
    expect(isOpen(workday, time)).toBe(expected);
  });

  test.each<[string, boolean]>([
    ["2026-01-02T21:59:00Z", false],
    ["2026-01-02T22:00:00Z", true], // Friday
    ["2026-01-03T05:59:00Z", true],
    ["2026-01-03T06:00:00Z", false],
    ["2026-01-03T22:00:00Z", false],
  ])("that ends at or before its start goes on into the next day: %s", (time, expected) => {
    expect(isOpen({ days: ["Fri"], start: "22:00", end: "06:00" }, time)).toBe(expected);
  });

  test("of Sunday night goes on into Monday", () => {
    const night = { days: ["Sun"], start: "22:00", end: "06:00" };
    const times = ["2026-01-04T21:59:00Z", "2026-01-04T22:00:00Z", "2026-01-05T05:59:00Z", "2026-01-05T06:00:00Z"];
    expect(times.map((time) => isOpen(night, time))).toEqual([false, true, true, false]);
  });

  test("from a time to the same is a whole day", () => {
    const wholeDay = { days: ["Sun"], start: "00:00", end: "00:00" };
    expect([3, 4, 5].map((day) => isOpen(wholeDay, `2026-01-0${day}T13:00:00Z`))).toEqual([false, true, false]);
    expect(isOpen(wholeDay, "2026-01-04T23:59:59Z")).toBe(true);
    expect(isOpen(wholeDay, "2026-01-05T00:00:00Z")).toBe(false);
  });

  test("whose start the clock skips in spring is open from the jump on", () => {
    const night = { start: "02:30", end: "03:30", timeZone: "Europe/Berlin" };
    expect(isOpen(night, "2026-03-29T00:59:59Z")).toBe(false); // 01:59:59
    expect(isOpen(night, "2026-03-29T01:00:00Z")).toBe(true); // 03:00
    expect(isOpen(night, "2026-03-29T01:30:00Z")).toBe(false);
  });

  test("in the hour that comes twice in autumn is there twice", () => {
    const night = { start: "02:15", end: "02:45", timeZone: "Europe/Berlin" };
    const times = ["00:20", "00:50", "01:20", "01:50"];
    expect(times.map((time) => isOpen(night, `2026-10-25T${time}:00Z`))).toEqual([true, false, true, false]);
  });
});

// POOL-27
describe("the bounds of a pool", () => {
  test("are its own outside of windows, and a window's in it, as far as that has some", () => {
    expect(bounds([{ ...workday, max: 50 }], "2026-01-04T12:00:00Z")).toEqual({ min: 1, max: 10 });
    expect(bounds([{ ...workday, max: 50 }], "2026-01-05T12:00:00Z")).toEqual({ min: 1, max: 50 });
    expect(bounds([{ ...workday, min: 0, max: 3 }], "2026-01-05T12:00:00Z")).toEqual({ min: 0, max: 3 });
  });

  test("are the highest of windows that overlap", () => {
    const windows = [
      { start: "08:00", end: "18:00", min: 5, max: 6 },
      { start: "12:00", end: "13:00", min: 2, max: 40 },
    ];
    expect(bounds(windows, "2026-01-05T12:30:00Z")).toEqual({ min: 5, max: 40 });
    expect(bounds(windows, "2026-01-05T13:30:00Z")).toEqual({ min: 5, max: 6 });
  });
});

test("other bounds may begin at the next whole minute, and never without windows", () => {
  expect(
    nextBoundsMs(Autoscale.parse({ max: 1, schedule: [{ ...workday, min: 0 }] }), at("2026-01-05T12:00:59.5Z")),
  ).toBe(500);
  expect(nextBoundsMs(Autoscale.parse({ max: 1 }), 0)).toBeUndefined();
});

import { expect, test } from "vitest";
import { resolveViewport } from "./browser-settings.ts";

// BROWSER-13, BROWSER-12
test.each([
  [2560, 1440, 10],
  [1920, 1080, 25],
  [1920, 1200, 25],
  [1440, 900, 25],
  [1280, 800, 60],
  [1024, 768, 60],
  [1200, 800, 60],
  [768, 1024, 60],
  [390, 844, 60],
  [3840, 2160, 10],
  [1, 1, 60],
])("%i x %i without a refresh rate has %i Hz", (width, height, refreshRate) => {
  expect(resolveViewport({ width, height })).toEqual({ width, height, refreshRate });
});

test("a refresh rate that is given stays", () => {
  expect(resolveViewport({ width: 3840, height: 2160, refreshRate: 60 }).refreshRate).toBe(60);
});

// BROWSER-14
test("no viewport is 1920x1080 at 25 Hz", () => {
  expect(resolveViewport(undefined)).toEqual({ width: 1920, height: 1080, refreshRate: 25 });
});

// BROWSER-16
test("with a GPU no viewport is 1920x1080 at 60 Hz, and only larger sizes than the recommended have less", () => {
  expect(resolveViewport(undefined, { gpu: true })).toEqual({ width: 1920, height: 1080, refreshRate: 60 });
  expect(resolveViewport({ width: 1920, height: 1200 }, { gpu: true }).refreshRate).toBe(60);
  expect(resolveViewport({ width: 2560, height: 1440 }, { gpu: true }).refreshRate).toBe(30);
  expect(resolveViewport({ width: 1920, height: 1080, refreshRate: 10 }, { gpu: true }).refreshRate).toBe(10);
});

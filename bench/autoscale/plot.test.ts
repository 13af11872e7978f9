import { expect, test } from "vitest";
import { plotTrace } from "./plot.ts";

const still = { callers: 0, up: 0, inUse: 0, waiting: 0 };

test("a picture has a line for each series, by steps, within its frame", () => {
  const moments = [
    { ...still, second: 0, size: 0 },
    { ...still, second: 5, size: 4, callers: 2 },
    { ...still, second: 10, size: 1, up: 3, waiting: 1 },
  ];
  const svg = plotTrace({ name: "a", title: "A trace", max: 4, moments, waits: [] });
  expect(svg).toContain('aria-label="A trace"');
  // 10 s are 696 wide from 40 on; four browsers are 172 high from 224 up.
  expect(svg).toContain('d="M40 224H388V52H736V181"');
  expect(svg).toContain('d="M40 224H388V224H736V95V224H40Z"');
  expect(svg.match(/<text[^>]*>\d+ s</g)).toHaveLength(6);
});

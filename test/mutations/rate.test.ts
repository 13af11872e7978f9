import { expect, test } from "vitest";
import { intervalText, rateOf, shareText } from "./rate.ts";

// From the formula by hand, and from the tables of Newcombe (1998).
test.each<[counts: [number, number], expected: [share: number, low: number, high: number]]>([
  [
    [81, 263],
    [0.308, 0.2553, 0.3662],
  ],
  [
    [15, 148],
    [0.1014, 0.0624, 0.1605],
  ],
  [
    [0, 20],
    [0, 0, 0.1611],
  ],
  [
    [1, 29],
    [0.0345, 0.0061, 0.1718],
  ],
  [
    [10, 10],
    [1, 0.7225, 1],
  ],
])("%j has the share and the bounds %j", (counts, expected) => {
  const { share, low, high } = rateOf(...counts);
  expect([share, low, high]).toEqual(expected.map((one) => expect.closeTo(one, 3)));
});

test("without a sample there is no rate", () => {
  expect([shareText(0, 0), intervalText(0, 0)]).toEqual(["", ""]);
  expect([shareText(1, 3), intervalText(1, 3)]).toEqual(["33 %", "6 to 79 %"]);
});

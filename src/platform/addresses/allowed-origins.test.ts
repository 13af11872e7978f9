import { describe, expect, test } from "vitest";
import { commonOrigins, originProblems, wideningProblems } from "./allowed-origins.ts";

const [a, b, c] = ["https://a.test", "https://b.test", "https://c.test"];

describe("the origins that lists have in common", () => {
  // ITEM-38
  test.each([
    [[undefined, undefined], undefined],
    [
      [[a, b], undefined],
      [a, b],
    ],
    [[undefined, [b], undefined], [b]],
    [
      [
        [a, b],
        [b, c],
      ],
      [b],
    ],
    [[[a, b], [b, c], [c]], []],
    [[[], [a]], []],
    [[[], undefined], []],
  ])("of %j are %j", (lists, common) => expect(commonOrigins(lists)).toEqual(common));
});

test("an origin is written as browsers write it", () => {
  expect(originProblems([a, "https://b.test:443"], "x")).toEqual([
    { path: "x[1]", message: "write it as browsers do: https://b.test" },
  ]);
  expect(originProblems(["https://xn--bcher-kva.test", "https://a.xn--0.test"], "x")).toEqual([
    { path: "x[1]", message: "has an xn-- label that is no internationalised name" },
  ]);
  expect(originProblems(undefined, "x")).toEqual([]);
});

// ITEM-38
test("an origin beyond a limit is named with the limit's owner", () => {
  const limits = [
    { of: "credential shop", origins: [a, b] },
    { of: "connection one", origins: [b] },
    { of: "connection two", origins: undefined },
  ];
  expect(wideningProblems([c, a, b], limits, "x")).toEqual([
    { path: "x[0]", message: `${c} is not among the allowed_origins of credential shop` },
    { path: "x[1]", message: `${a} is not among the allowed_origins of connection one` },
  ]);
  expect(wideningProblems(undefined, limits, "x")).toEqual([]);
});

import { expect, test } from "vitest";
import type { ObservedPod } from "../observe/observed.ts";
import { chromiumVersions } from "./chromium-versions.ts";

const pod = (
  chromium?: string,
  state: ObservedPod["state"] = { is: "known" },
): Pick<ObservedPod, "browser" | "state"> => ({
  state,
  browser: {
    id: "u",
    pod: "p",
    address: "10.0.0.1:1",
    config: "c",
    seq: 0,
    state: "idle",
    since: 0,
    ...(chromium && { chromium }),
  },
});

test("versions are counted, the newest first by their numbers", () => {
  const old = "99.0.7000.9";
  const recent = "156.0.7800.12";
  expect(chromiumVersions([pod(old), pod(recent), pod("156.0.7800.9"), pod(recent), pod()])).toEqual([
    { version: recent, browsers: 2 },
    { version: "156.0.7800.9", browsers: 1 },
    { version: old, browsers: 1 },
  ]);
});

test("a pod that ends is not counted", () => {
  expect(chromiumVersions([pod("156.0.7800.12", { is: "terminating" })])).toEqual([]);
});

test("browsers that each say another version make no long list", () => {
  expect(chromiumVersions(Array.from({ length: 50 }, (_, index) => pod(`${index}.0.0.0`)))).toHaveLength(4);
});

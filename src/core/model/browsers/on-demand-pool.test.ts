import { expect, test } from "vitest";
import { BrowserSpec } from "./browser.ts";
import { onDemandPoolSpec, onDemandRequest } from "./on-demand-pool.ts";

const context = {
  owner: { id: "b", uid: "b-uid" },
  name: undefined,
  project: "p",
  allowedSeconds: 3600,
  report: undefined,
  keepsFiles: false,
};
const requestOf = (spec: object, more: object = {}) =>
  onDemandRequest(BrowserSpec.parse(spec), { ...context, ...more });

test.each([
  [undefined, 3600],
  [600, 600],
  [3600, 3600],
  [86_400, 3600],
])("a spec of %s s at most, where 3600 are allowed, lasts %s s", (maxSessionSeconds, expected) => {
  expect(requestOf({ maxSessionSeconds }).max_session_seconds).toBe(expected);
});

test("a request has what its spec says, and nothing that it does not say", () => {
  expect(requestOf({ timeoutSeconds: 90 })).toEqual({
    timeout_seconds: 90,
    max_session_seconds: 3600,
    pool: { id: "b", uid: "b-uid" },
    on_demand: true,
    project: "p",
  });
  expect(requestOf({ timeoutSeconds: 90, tags: { team: "a" } }, { name: "mine" })).toMatchObject({
    name: "mine",
    tags: { team: "a" },
  });
});

test("an on-demand browser has the memory that it asks for, by default 8GiB", () => {
  expect(onDemandPoolSpec(BrowserSpec.parse({ memory: "16GiB" })).memory).toBe("16GiB");
  expect(onDemandPoolSpec(BrowserSpec.parse({})).memory).toBe("8GiB");
});

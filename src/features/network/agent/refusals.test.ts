import { expect, test } from "vitest";
import { failureOf } from "./refusals.ts";
import { ParentFailed, Refused } from "./way-out.ts";

test("a page learns nothing of the network from what it may not reach or what fails there", () => {
  for (const error of [
    Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:6379"), { code: "ECONNREFUSED" }),
    new Error("getaddrinfo ENOTFOUND redis.browserpool-system.svc"),
    "10.0.0.7",
    undefined,
  ])
    expect(failureOf(error)).toEqual({ status: 502, reason: "the host can't be reached", by: "host" });
});

test("a rule and a proxy are told by their own words", () => {
  expect(failureOf(new Refused("the host is not in allowed_hosts"))).toEqual({
    status: 403,
    reason: "the host is not in allowed_hosts",
    by: "rules",
  });
  expect(failureOf(new ParentFailed("the proxy refused its login"))).toMatchObject({ status: 502, by: "proxy" });
});

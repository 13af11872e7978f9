import { expect, test } from "vitest";
import { aPool } from "../../../../test/support/observed-pool.ts";
import type { Refusal } from "./observed.ts";
import { createRefused } from "./refused.ts";

const named = (name: string, namespace = "a") => aPool({}, {}, { name, namespace, uid: name });
const noRoom: Refusal = { reason: "SessionsLimit", message: "" };

test("of each namespace those that were refused first are tried, and after an acceptance the next", () => {
  const tried: string[] = [];
  const refused = createRefused((key) => tried.push(key));
  for (const name of ["1", "2", "3", "4"]) refused.note(named(name), noRoom);
  refused.note(named("other", "b"), noRoom);
  refused.note(named("wrong", "c"), { reason: "InvalidSpec", message: "" });
  refused.note(named("2"), noRoom);
  refused.retry();
  expect(tried.splice(0)).toEqual(["a/1", "a/2", "a/3", "b/other"]);
  refused.note(named("1"), undefined);
  expect(tried.splice(0)).toEqual(["a/2", "a/3", "a/4", "b/other"]);
  for (const uid of ["2", "3", "4", "other", "unknown"]) refused.forget(uid);
  refused.note(named("accepted"), undefined);
  expect(tried).toEqual([]);
});

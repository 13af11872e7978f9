import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allChecks, checkHistory } from "./all-checks.ts";
import { agent, held, inOrder } from "./small-history.ts";

test("the page tells of every check, in its own words", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/robustness.md"), "utf8");
  const rows = allChecks.map(({ name, kind, promise }) => `| \`${name}\` | ${kind} | ${promise} |`);
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});

test("what is found says which check found it", () => {
  const events = inOrder(held([0, 10], "s1"), agent(5, "b", "bound", { session: "s1", seq: 1 }));
  expect(checkHistory(events)).toEqual([]);
  expect(checkHistory(inOrder(held([0, 10], "s1")))).toMatchObject([{ check: "held-means-bound", kind: "safety" }]);
});

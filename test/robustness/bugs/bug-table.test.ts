import { expect, test } from "vitest";
import { withBugTable } from "./bug-table.ts";

const row = { name: "a-bug", breaks: "something", found: ["some-check"], seed: 7, seconds: 12.4 };

test("the table stands between its markers, and only there", () => {
  const text = "before <!-- bugs:begin -->\nold\n<!-- bugs:end --> after";
  const table = withBugTable(text, [row, { name: "b", breaks: "x", found: [] }]);
  expect(table).toMatch(/^before <!-- bugs:begin -->\n\n\| bug \|.+\n\n<!-- bugs:end --> after$/s);
  expect(table).toContain("| `a-bug` | something | some-check | 7 | 12 |");
  expect(table).toContain("| `b` | x | **not found** |  |  |");
  expect(table).not.toContain("old");
  expect(() => withBugTable("nothing", [row])).toThrow(/markers/);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chromePoliciesFile, chromePoliciesOf, defaultProgram } from "../../../../scripts/gen-chrome-policies.ts";

/** Of policies alone: a newer Chromium may have the same ones. */
const withoutVersion = (text: string): unknown => ({ ...JSON.parse(text), chromium: undefined });

// POOL-18
test("the table of policies has the names and types of the Chromium that runs; else: npm run gen:policies", () => {
  const table = withoutVersion(readFileSync(chromePoliciesFile, "utf8"));
  expect(withoutVersion(chromePoliciesOf(defaultProgram))).toEqual(table);
});

import { expect, test } from "vitest";
import { checkRules } from "./check-rules.ts";

const rules = `# Rules

- **POOL-PATCH-1** An update changes what it names.
- **POOL-PATCH-12** *(not yet)* The sum of all sizes is bounded.
- **ACQUIRE-1** The longest waiting caller comes first.
`;

const problems = (files: Record<string, string>, page = rules): string[] =>
  checkRules(new Map(Object.entries({ "docs/rules.md": page, ...files })));

const tested = { "src/domain/a.test.ts": 'test("POOL-PATCH-1: …");', "test/e2e/b.test.ts": "// ACQUIRE-1" };

test("rules that tests cite are fine, and so are those that are not yet", () =>
  expect(problems({ ...tested, "src/domain/a.ts": "/** POOL-PATCH-12, POOL-PATCH-1; SHA-256. */" })).toEqual([]));

test.each([
  ["src/domain/a.ts", "// POOL-PATCH-2"],
  ["src/domain/a.test.ts", '// POOL-PATCH-1\ntest("POOL-PATCH-2: …");'],
  ["docs/pools.md", "POOL-PATCH-2"],
  ["charts/browserpool/values.yaml", "# POOL-PATCH-2"],
  ["src/leases/scripts/a.lua", "-- POOL-PATCH-2"],
])("a rule that is not there can't be cited: %s", (file, text) =>
  expect(problems({ ...tested, [file]: text })).toEqual([
    expect.stringMatching(/:\d cites rule POOL-PATCH-2, which docs\/rules\.md does not have$/),
  ]),
);

test("a slip in the name of a family is noticed", () =>
  expect(problems({ ...tested, "src/a.ts": "// POOL-PACH-1" })).toEqual([
    "src/a.ts:1 cites rule POOL-PACH-1, which docs/rules.md does not have",
  ]));

test("a rule in force is cited by a test; what other code says counts for nothing", () => {
  const { "test/e2e/b.test.ts": _, ...rest } = tested;
  const untested = ["docs/rules.md:5 has rule ACQUIRE-1, which no test cites"];
  expect(problems(rest)).toEqual(untested);
  expect(problems({ ...rest, "src/leases/a.ts": "// ACQUIRE-1", "docs/b.md": "ACQUIRE-1" })).toEqual(untested);
  expect(problems({ ...rest, "test/support/c.ts": "// ACQUIRE-1" })).toEqual([]);
});

test("a longer number is another rule", () =>
  expect(problems({ ...tested, "src/domain/a.test.ts": "// POOL-PATCH-12" })).toEqual([
    "docs/rules.md:3 has rule POOL-PATCH-1, which no test cites",
  ]));

test("each id stands on the page once, and is one", () => {
  expect(problems(tested, `${rules}- **ACQUIRE-1** Again.\n`)).toEqual([
    "docs/rules.md:6 names ACQUIRE-1, a second time",
  ]);
  expect(problems(tested, `${rules}- **Acquire-2** first.\n`)).toEqual([
    "docs/rules.md:6 names Acquire-2, which is no id of a rule",
  ]);
  expect(problems(tested, `${rules}- **A rule** is one line.\n`)).toEqual([]);
  expect(problems(tested, "# Rules\n")).toEqual(["docs/rules.md has no rules"]);
});

test("the page must be there", () =>
  expect(checkRules(new Map([["src/a.ts", "// POOL-PATCH-2"]]))).toEqual(["docs/rules.md is missing"]));

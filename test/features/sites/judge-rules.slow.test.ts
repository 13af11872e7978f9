/** The built-in rules, each on the page that it was written from. */
import { beforeAll, expect, test } from "vitest";
import { createJudge } from "../../../src/features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "../../../src/features/sites/judge/read-rules.ts";
import { type Visit, visitErrors } from "../../../src/features/sites/visit/visit.ts";
import { storedPages, targetOfPage, visitStoredPages } from "../../support/stored-pages.ts";

const rules = readJudgeRules({ builtIn: builtInRules });
const judge = createJudge(rules);
const pages = new Map(storedPages("rules").map((page) => [page.name, page]));
const learned = storedPages("learned");
/** Enough for all pages on a machine that others load, too. */
const visitingMs = 300_000;
let visits: Map<string, Visit>;

beforeAll(async () => {
  visits = await visitStoredPages([...pages.values(), ...learned]);
}, visitingMs);

const judged = (name: string) => {
  const [page, visit] = [pages.get(name), visits.get(name)];
  if (!page || !visit) throw new Error(`${name} is no stored page`);
  return { page, judgement: judge(visit, targetOfPage(page)) };
};

// LOOKUP-51, LOOKUP-52
test.each(rules.rules)("$name holds for its page", ({ name, page, verdict, reason, notes = [] }) => {
  const { page: stored, judgement } = judged(page ?? "");
  expect(judgement).toMatchObject({
    verdict: stored.verdict,
    notes: expect.arrayContaining([...notes, ...stored.notes]),
  });
  if (verdict !== undefined) expect(judgement).toMatchObject({ verdict, reason, rule: name });
});

// LOOKUP-52, LOOKUP-54
test.each(learned)("$name, on which earlier rules were wrong, is $verdict", (page) => {
  const visit = visits.get(page.name);
  expect(visit && judge(visit, targetOfPage(page))).toMatchObject({
    verdict: page.verdict,
    notes: expect.arrayContaining(page.notes),
  });
});

test("no page is left over", () => {
  expect([...pages.keys()].sort()).toEqual(rules.rules.map(({ page }) => page).sort());
});

test("each reason and each note is used", () => {
  const used = rules.rules.flatMap(({ reason, notes = [] }) => [...notes, ...(reason ? [reason] : [])]);
  expect([...new Set([...used, "no_rule"])].sort()).toEqual(
    [...Object.keys(rules.reasons), ...Object.keys(rules.notes)].sort(),
  );
});

// LOOKUP-53
test.each(visitErrors)("a visit that ended with %s is never a block, whatever the page was", (error) => {
  for (const [name, page] of pages) {
    const visit = visits.get(name);
    if (!visit) throw new Error(`${name} was not visited`);
    expect(judge({ ...visit, error }, targetOfPage(page)).verdict, name).toBe("inconclusive");
  }
});

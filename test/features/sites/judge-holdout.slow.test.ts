/** How well the judge does on pages that no rule was written from. Prints the matrix that docs/judging.md has. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { verdicts } from "../../../src/features/sites/analyses/site-analysis.ts";
import { createJudge } from "../../../src/features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "../../../src/features/sites/judge/read-rules.ts";
import { confusionMatrix, type JudgedPage, judgePages } from "../../support/confusion-matrix.ts";
import { storedPages } from "../../support/stored-pages.ts";

const docs = readFileSync(new URL("../../../docs/judging.md", import.meta.url), "utf8");
const pages = storedPages("holdout");
/** Enough for all pages on a machine that others load, too. */
const visitingMs = 300_000;
let judged: JudgedPage[];

beforeAll(async () => {
  judged = await judgePages(pages, createJudge(readJudgeRules({ builtIn: builtInRules })));
}, visitingMs);

const isRight = ({ page, judgement }: JudgedPage): boolean => page.verdict === judgement.verdict;

test("there are at least 70 pages of all kinds", () => {
  expect(pages.length).toBeGreaterThanOrEqual(70);
  for (const verdict of verdicts) expect(pages.some((page) => page.verdict === verdict)).toBe(true);
});

// LOOKUP-59
test("the judge is right as often as docs/judging.md says", () => {
  const rows = confusionMatrix(judged).map(({ actual, judged: counts }) => `| ${actual} | ${counts.join(" | ")} |`);
  const wrong = judged.filter((one) => !isRight(one));
  const lines = wrong.map(
    ({ page, judgement }) => `${page.name} is ${page.verdict}, judged ${JSON.stringify(judgement)}`,
  );
  const total = `${judged.length - wrong.length} of ${judged.length}`;
  process.stdout.write(
    `${["| what it is | accessed | blocked | inconclusive |", ...rows, total, ...lines].join("\n")}\n`,
  );
  for (const expected of [...rows, total]) expect(docs).toContain(expected);
});

// LOOKUP-59
test("no ordinary page is called blocked", () => {
  const wrong = judged.filter(({ page, judgement }) => page.verdict !== "blocked" && judgement.verdict === "blocked");
  expect(wrong.map(({ page }) => page.name)).toEqual([]);
});

// LOOKUP-54
test("every page that is judged right has its notes", () => {
  for (const { page, judgement } of judged.filter(isRight))
    expect(judgement.notes, page.name).toEqual(expect.arrayContaining(page.notes));
});

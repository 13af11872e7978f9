/** How often the judge is right on stored pages. */

import { type Verdict, verdicts } from "../../src/features/sites/analyses/site-analysis.ts";
import type { Judgement } from "../../src/features/sites/judge/judge.ts";
import type { Target } from "../../src/features/sites/rules/target.ts";
import type { Visit } from "../../src/features/sites/visit/visit.ts";
import { type StoredPage, targetOfPage, visitStoredPages } from "./stored-pages.ts";

/** A page with what the judge says of it. */
export type JudgedPage = { page: StoredPage; judgement: Judgement };

/** Visits pages and judges them. */
export const judgePages = async (
  pages: readonly StoredPage[],
  judge: (visit: Visit, target: Target) => Judgement,
): Promise<JudgedPage[]> => {
  const visits = await visitStoredPages(pages);
  return pages.map((page) => {
    const visit = visits.get(page.name);
    if (!visit) throw new Error(`${page.name} was not visited`);
    return { page, judgement: judge(visit, targetOfPage(page)) };
  });
};

/** A row of the matrix: what pages are, and what they are judged as, in the order of the verdicts. */
type MatrixRow = { actual: Verdict; judged: number[] };

/** The confusion matrix. */
export const confusionMatrix = (judged: readonly JudgedPage[]): MatrixRow[] =>
  verdicts.map((actual) => ({
    actual,
    judged: verdicts.map(
      (verdict) =>
        judged.filter(({ page, judgement }) => page.verdict === actual && judgement.verdict === verdict).length,
    ),
  }));

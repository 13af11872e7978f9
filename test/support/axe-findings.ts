import axe from "axe-core";
import type { Page } from "puppeteer-core";

/** What axe-core finds on the page as it is now, as `rule: element`. `rules`: left out, all. */
export const axeFindings = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  await page.evaluate(axe.source);
  const runOnly = rules ?? ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  return (await page.evaluate(`(async () => {
    const { violations } = await axe.run(document, { runOnly: ${JSON.stringify(runOnly)} });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 200)));
  })()`)) as string[];
};

/** What a browser says of its policies, on the pages that Chromium has for them. */
import type { Page } from "puppeteer-core";
import { eventually } from "./eventually.ts";

/** One policy that is set. `error`: why the browser does not heed it, or a part of it. */
export type ShownPolicy = { value: unknown; error?: string };

/** Asks a page again when the browser leads it elsewhere meanwhile, as it does late after a page that did not load. */
const ask = async (page: Page, expression: string): Promise<unknown> => {
  const { answer } = await eventually("the page stays while it is asked", () =>
    page.evaluate(expression).then(
      (value) => ({ answer: value }),
      (error: Error) => {
        if (error.message.includes("context was destroyed")) return undefined;
        throw error;
      },
    ),
  );
  return answer;
};

/** The policies that are set, by name, as chrome://policy shows them. */
export const shownPolicies = async (page: Page): Promise<Record<string, ShownPolicy>> => {
  await page.goto("chrome://policy/");
  const shown = `(async () => {
    const { addWebUiListener } = await import("chrome://resources/js/cr.js");
    return new Promise((resolve) => {
      addWebUiListener("policies-updated", (_, { policyGroups }) => resolve(policyGroups.chrome.policies));
      chrome.send("listenPoliciesUpdates");
    });
  })()`;
  return (await ask(page, shown)) as Record<string, ShownPolicy>;
};

/**
 * Tries to replace all policies of the browser by Chromium's page for tests. False when the browser does not answer.
 */
export const replacePolicies = async (page: Page, policies: Record<string, unknown>): Promise<boolean> => {
  await page.goto("chrome://policy/test").catch(() => undefined);
  // Without the page for tests, the browser goes on to chrome://policy by itself.
  await page.waitForFunction("location.protocol === 'chrome:' && document.readyState === 'complete'");
  const given = Object.entries(policies).map(([name, value]) => ({
    level: 1,
    scope: 1,
    source: 2,
    namespace: "chrome",
    name,
    value,
  }));
  const replace = `(async () => {
    const { sendWithPromise } = await import("chrome://resources/js/cr.js");
    const late = new Promise((resolve) => setTimeout(() => resolve(false), 3000));
    return Promise.race([sendWithPromise("setLocalTestPolicies", ${JSON.stringify(JSON.stringify(given))}, "{}"), late]);
  })()`;
  return (await ask(page, replace)) as boolean;
};

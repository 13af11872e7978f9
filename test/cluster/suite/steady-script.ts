import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import type { Session } from "./pools.ts";

/** Between two steps, ms. */
const stepEveryMs = 500;

/** A page that notes what is typed into it: what was typed before is lost with the page. */
const notes = `data:text/html,<input><button onclick="notes.append(Object.assign(document.createElement('li'),
  { textContent: document.querySelector('input').value }))">Note</button><ol id="notes"></ol>`;

/** A script of a person, which Playwright carries out over one socket. */
type SteadyScript = {
  /** Ends it. Resolves with the number of its steps; rejects with what made it fail, such as a cut of its socket. */
  stop(): Promise<number>;
};

/** A script that types, clicks and reads all the time, and tries nothing again. */
export const startSteadyScript = async ({ cdp_ws_url }: Session): Promise<SteadyScript> => {
  const browser = await chromium.connectOverCDP(cdp_ws_url);
  const page = await browser.contexts()[0]?.newPage();
  if (!page) throw new Error("the browser has no context");
  await page.goto(notes);
  let steps = 0;
  let isStopped = false;
  const work = async (): Promise<void> => {
    while (!isStopped) {
      await page.fill("input", `step ${steps}`);
      await page.click("button");
      const last = await page.textContent(`li:nth-child(${steps + 1})`);
      if (last !== `step ${steps}`) throw new Error(`another page than before: ${last}`);
      steps += 1;
      await sleep(stepEveryMs);
    }
  };
  const working = work().catch((error: unknown) => {
    throw new Error(`failed after ${steps} steps: ${error instanceof Error ? error.message : error}`);
  });
  working.catch(() => undefined); // told by `stop`
  return {
    async stop() {
      isStopped = true;
      await working.finally(() => browser.close());
      return steps;
    },
  };
};

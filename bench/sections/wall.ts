/**
 * The console's wall with real browsers on loopback: processors of the service, of the agents and of the browsers by how
 * often a tile gets a picture, against the same browsers with the wall off.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { filledPool } from "../../test/support/filled-pool.ts";
import { startLocalStack } from "../../test/support/local-stack.ts";
import { startViewBrowser } from "../../test/support/view-page.ts";
import { goTo } from "../moving-page.ts";
import { processesBelow } from "../process-time.ts";
import type { Bench, Row, Section } from "../section.ts";

/** A page that changes once a second, as most that people look at. */
const clock = `data:text/html,<title>clock</title><body style="font:40px sans-serif"><p id=now></p><script>
  setInterval(() => { now.textContent = new Date().toISOString(); }, 1000);
</script>`;

/** Seconds between two pictures of a tile, as the console offers them. */
const rates = ["1", "5", "30"];

type Parts = { service: number; agents: number; browsers: number };

const partNames = ["service", "agents", "browsers"] as const;

/** Seconds of CPU that the parts of local mode have used so far. */
const usedBy = async (root: number): Promise<Parts> => {
  const all = await processesBelow(root);
  const service = all.find(({ name }) => name === "redis-server")?.parent;
  const sum = (isOne: (process: (typeof all)[number]) => boolean): number =>
    all.filter(isOne).reduce((seconds, process) => seconds + process.seconds, 0);
  return {
    service: sum(({ pid }) => pid === service),
    agents: sum(({ name, parent }) => parent === service && name === "MainThread"),
    browsers: sum(({ name }) => name.startsWith("chrom")),
  };
};

/** Processors that the parts use during so many seconds. */
const loadOf = async (root: number, seconds: number, signal: AbortSignal): Promise<Parts> => {
  const before = await usedBy(root);
  const beganMs = performance.now();
  await sleep(seconds * 1000, undefined, { signal });
  const after = await usedBy(root);
  const took = (performance.now() - beganMs) / 1000;
  const of = (part: keyof Parts): number => (after[part] - before[part]) / took;
  return { service: of("service"), agents: of("agents"), browsers: of("browsers") };
};

/** A window of the console in a browser that is none of the service's. */
const openWindow = async (url: string, apiKey: string, stack: AsyncDisposableStack): Promise<Page> => {
  const { browser } = stack.use(await startViewBrowser());
  const page = await browser.newPage();
  // All tiles are in sight.
  await page.setViewport({ width: 1920, height: 3000 });
  await page.goto(`${url}/console/sessions`);
  await page.locator("input[name=api_key]").fill(apiKey);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav");
  return page;
};

const drawn = "document.querySelectorAll('.tile canvas:not(.unseen)').length";

const measure = async ({ browsers, seconds, signal, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  const count = Math.round(browsers(30));
  say(`starting local mode with ${count} browsers of 800x600`);
  const stack = parts.use(await startLocalStack());
  const { kernel, url, api_key } = stack;
  const root = stack.process.pid ?? 0;
  const pool = await filledPool(kernel, { size: count, headless: true, viewport: { width: 800, height: 600 } });
  for (let n = 0; n < count; n += 1) {
    const session = await kernel.browserPools.acquire(pool.id, {});
    await goTo(session.cdp_ws_url, clock);
  }
  const page = await openWindow(url, api_key, parts);
  const look = async (path: string): Promise<Parts> => {
    say(path);
    await page.goto(`${url}/console${path}`);
    if (path.includes("wall")) await page.waitForFunction(`${drawn} === ${count}`, { timeout: 120_000 });
    await sleep(3000, undefined, { signal });
    return loadOf(root, seconds(30), signal);
  };
  const off = await look("/sessions");
  const rows: Row[] = partNames.map((part) => ({
    what: `processors of the ${part}, ${count} sessions, the wall off`,
    unit: "count",
    measured: off[part],
  }));
  for (const every of rates) {
    const on = await look(`/sessions?as=wall&every=${every}`);
    for (const part of partNames)
      rows.push({
        what: `the ${part}, a picture of each in ${every} s`,
        unit: "count",
        measured: on[part],
        floor: { what: "the wall off", value: off[part] },
      });
  }
  const after = await look("/sessions");
  for (const part of partNames)
    rows.push({
      what: `the ${part}, off again`,
      unit: "count",
      measured: after[part],
      floor: { what: "the wall off", value: off[part] },
    });
  return { rows };
};

export const section: Section = {
  name: "wall",
  summary: "the console's wall of live pictures: processors by how often a tile gets a picture",
  run: measure,
};

/**
 * Code beside a browser against the same code at a client: 50 steps of Playwright in one call, and from outside over
 * CDP through the gateway; the start of an executor, its memory, and what it adds to the agent's.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { chromium, type Page } from "playwright-core";
import { filledPool } from "../../test/support/filled-pool.ts";
import { startLocalStack } from "../../test/support/local-stack.ts";
import { processesOf } from "../../test/support/processes.ts";
import { residentBytesOf } from "../process-time.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const stepsEach = 50;
const repeats = 9;

/** The same text runs at both places. */
const steps = `await page.setContent("<input id=a><p id=p>0</p>");
for (let step = 0; step < ${stepsEach / 2}; step += 1) {
  await page.fill("#a", String(step));
  await page.textContent("#p");
}`;

const asFunction = new Function("page", `return (async () => { ${steps} })()`) as (page: Page) => Promise<void>;

/** Each way, ms: a client in another town. */
const wayMs = 10;

/** Serves on a port of loopback what `to` serves, later. */
const farFrom = async (to: URL, parts: AsyncDisposableStack): Promise<URL> => {
  const sockets = new Set<Socket>();
  const join = (from: Socket, other: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (chunk) => setTimeout(() => other.write(chunk), wayMs));
    from.on("close", () => setTimeout(() => other.destroy(), wayMs));
    from.on("error", () => undefined);
  };
  const server = createServer((client) => {
    const there = connect(Number(to.port), to.hostname);
    join(client, there);
    join(there, client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  parts.defer(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(to);
  url.port = String((server.address() as AddressInfo).port);
  return url;
};

const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
};

/** Resident memory of the largest process whose command has this text, bytes. */
const memoryOf = async (text: string): Promise<number> => {
  const sizes = (await processesOf(text)).map(({ pid }) => residentBytesOf(pid));
  return Math.max(0, ...(await Promise.all(sizes)));
};

const measure = async ({ signal, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  say("starting local mode with one browser");
  const stack = parts.use(await startLocalStack());
  const pool = await filledPool(stack.kernel, {});
  const session = await stack.kernel.browserPools.acquire(pool.id, {});
  const { playwright } = stack.kernel.browsers;
  const beside = (code: string) => playwright.execute(session.session_id, { code });
  const far = await farFrom(new URL(stack.url), parts);
  const farKernel = stack.kernel.withOptions({ baseURL: far.href.replace(/\/$/, "") });
  const farSocket = Object.assign(new URL(session.cdp_ws_url), { port: far.port }).href;
  const agentBefore = await memoryOf("main.ts agent");
  const first = await timeOf(() => beside("return 1"));
  const again = await timeOf(() => beside("return 1"));
  const agentAfter = await memoryOf("main.ts agent");
  const pageOver = async (url: string): Promise<Page> => {
    const browser = await chromium.connectOverCDP(url);
    parts.defer(() => browser.close());
    const page = browser.contexts()[0]?.pages()[0];
    if (!page) throw new Error("the browser has no page");
    return page;
  };
  const measured = {
    near: [] as number[],
    nearOutside: [] as number[],
    far: [] as number[],
    farOutside: [] as number[],
  };
  const outside = async (url: string): Promise<number> => {
    const page = await pageOver(url);
    const time = await timeOf(() => asFunction(page));
    await page.context().browser()?.close();
    return time;
  };
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    signal.throwIfAborted();
    say(`round ${repeat + 1} of ${repeats}`);
    measured.near.push(await timeOf(() => beside(steps)));
    measured.nearOutside.push(await outside(session.cdp_ws_url));
    measured.far.push(await timeOf(() => farKernel.browsers.playwright.execute(session.session_id, { code: steps })));
    measured.farOutside.push(await outside(farSocket));
  }
  const rows: Row[] = [
    {
      what: `${stepsEach} steps beside the browser, one call`,
      unit: "ms",
      measured: summarize(measured.near).p50,
      floor: { what: "from outside, on loopback", value: summarize(measured.nearOutside).p50 },
    },
    {
      what: `the same of a client ${2 * wayMs} ms away`,
      unit: "ms",
      measured: summarize(measured.far).p50,
      floor: { what: "from outside, as far away", value: summarize(measured.farOutside).p50 },
    },
    { what: "first call, with the start of its executor", unit: "ms", measured: first },
    { what: "a call that returns at once", unit: "ms", measured: again },
    { what: "memory of an executor", unit: "bytes", measured: await memoryOf("code/executor/main.ts") },
    {
      what: "memory of the agent after the first call",
      unit: "bytes",
      measured: agentAfter,
      floor: { what: "before", value: agentBefore },
    },
  ];
  return { rows };
};

export const section: Section = {
  name: "beside",
  summary: "code beside a browser, and the same code at a client",
  run: measure,
};

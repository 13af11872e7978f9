/**
 * The live view on loopback, with viewers that only receive: from a key at a viewer to the picture that shows it,
 * pictures a second of a page that moves, and the CPU time of the whole service with its browser, for one viewer and
 * for twenty.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { filledPool } from "../../test/support/filled-pool.ts";
import { type LocalStack, startLocalStack } from "../../test/support/local-stack.ts";
import { openViewer, type ViewerSocket } from "../../test/support/viewer-socket.ts";
import { goTo, movingPage } from "../moving-page.ts";
import { cpuSecondsBelow } from "../process-time.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const many = 20;
const still = `data:text/html,<title>still</title><body style="margin:0"><script>
  let at = 0;
  onkeydown = () => { document.body.style.background = ["white", "black"][at ^= 1]; };
</script>`;

/** Times from a key to the next picture, ms. Nothing else changes the page. */
const keyToPicture = async (viewer: ViewerSocket, seconds: number, signal: AbortSignal): Promise<number[]> => {
  const times: number[] = [];
  const untilMs = performance.now() + seconds * 1000;
  while (performance.now() < untilMs && !signal.aborted) {
    const next = viewer.nextPicture();
    const beganMs = performance.now();
    viewer.send({ type: "key", action: "down", key: "a", code: "KeyA", text: "a" });
    await next;
    times.push(performance.now() - beganMs);
    viewer.send({ type: "key", action: "up", key: "a", code: "KeyA" });
    // Until no further picture of this change is under way.
    await sleep(60);
  }
  return times;
};

type Load = { perSecond: number; cpu: number };

/** Pictures a second of each of these viewers, and the processors that the service with its browser uses meanwhile. */
const loadOf = async (stack: LocalStack, viewers: readonly ViewerSocket[], seconds: number): Promise<Load> => {
  const root = stack.process.pid ?? 0;
  const before = { pictures: viewers.map((viewer) => viewer.pictures()), cpu: await cpuSecondsBelow(root) };
  const beganMs = performance.now();
  await sleep(seconds * 1000);
  const took = (performance.now() - beganMs) / 1000;
  const cpu = ((await cpuSecondsBelow(root)) - before.cpu) / took;
  const counts = viewers.map((viewer, index) => viewer.pictures() - (before.pictures[index] ?? 0));
  return { perSecond: summarize(counts).p50 / took, cpu };
};

const measure = async ({ seconds, signal, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  say("starting local mode with one browser of 1280x800");
  const stack = parts.use(await startLocalStack());
  const pool = await filledPool(stack.kernel, { viewport: { width: 1280, height: 800 } });
  const session = await stack.kernel.browserPools.acquire(pool.id, {});
  const url = session.browser_live_view_url ?? "";
  const open = async (): Promise<ViewerSocket> => {
    const viewer = await openViewer(url);
    parts.defer(() => viewer.close());
    return viewer;
  };
  await goTo(session.cdp_ws_url, still);
  const first = await open();
  await sleep(1500);
  say("keys");
  const times = summarize(await keyToPicture(first, seconds(8), signal));
  await goTo(session.cdp_ws_url, movingPage);
  await sleep(1000);
  say("one viewer");
  const one = await loadOf(stack, [first], seconds(5));
  say(`${many} viewers`);
  const viewers = [first, ...(await Promise.all(Array.from({ length: many - 1 }, open)))];
  await sleep(1000);
  const all = await loadOf(stack, viewers, seconds(5));
  await Promise.all(viewers.map((viewer) => viewer.close()));
  await sleep(1000);
  const none = await loadOf(stack, [], seconds(5));
  const rows: Row[] = [
    { what: "key to picture, p50", unit: "ms", measured: times.p50 },
    { what: "key to picture, p99", unit: "ms", measured: times.p99 },
    { what: "pictures of a moving page, one viewer", unit: "1/s", measured: one.perSecond },
    { what: `the same for each of ${many} viewers`, unit: "1/s", measured: all.perSecond },
    {
      what: "processors, one viewer",
      unit: "count",
      measured: one.cpu,
      floor: { what: "the same page, nobody watching", value: none.cpu },
    },
    { what: `processors, each further viewer of ${many}`, unit: "count", measured: (all.cpu - one.cpu) / (many - 1) },
  ];
  return { rows, detail: { times, one, all, none } };
};

export const section: Section = {
  name: "live-view",
  summary: "the live view on loopback: keys to pictures, pictures a second, processors",
  run: measure,
};

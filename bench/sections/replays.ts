/**
 * Recordings on loopback: CPU time of the whole service with ten browsers whose pages move all the time, while nobody
 * records them and while all are recorded; and how many pictures their videos have.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { filledPool } from "../../test/support/filled-pool.ts";
import { type LocalStack, startLocalStack } from "../../test/support/local-stack.ts";
import { countFrames } from "../../test/support/recording-video.ts";
import { goTo, movingPage } from "../moving-page.ts";
import { cpuSecondsBelow } from "../process-time.ts";
import type { Bench, Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

const many = 10;
const framerate = 10;

/** Processors that the service with its browsers uses. */
const processors = async (stack: LocalStack, seconds: number): Promise<number> => {
  const root = stack.process.pid ?? 0;
  const before = await cpuSecondsBelow(root);
  const beganMs = performance.now();
  await sleep(seconds * 1000);
  return ((await cpuSecondsBelow(root)) - before) / ((performance.now() - beganMs) / 1000);
};

const measure = async ({ seconds, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  say(`starting local mode with ${many} browsers of 1280x800`);
  const stack = parts.use(await startLocalStack());
  const { kernel } = stack;
  const pool = await filledPool(kernel, { size: many, viewport: { width: 1280, height: 800 } });
  const acquire = () => kernel.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
  const sessions = await Promise.all(Array.from({ length: many }, acquire));
  for (const { cdp_ws_url } of sessions) await goTo(cdp_ws_url, movingPage);
  await sleep(1000);
  const none = await processors(stack, seconds(5));
  say(`recording ${many} browsers`);
  const beganMs = performance.now();
  const replays = await Promise.all(
    sessions.map(async ({ session_id }) => ({
      session_id,
      ...(await kernel.browsers.replays.start(session_id, { framerate })),
    })),
  );
  const all = await processors(stack, seconds(10));
  await Promise.all(replays.map(({ session_id: id, replay_id }) => kernel.browsers.replays.stop(replay_id, { id })));
  const tookSeconds = (performance.now() - beganMs) / 1000;
  const folder = await mkdtemp(join(tmpdir(), "replays-bench-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const [rates, sizes]: [number[], number[]] = [[], []];
  for (const { session_id: id, replay_id } of replays) {
    const bytes = Buffer.from(await (await kernel.browsers.replays.download(replay_id, { id })).arrayBuffer());
    const file = join(folder, `${replay_id}.webm`);
    await writeFile(file, bytes);
    rates.push((await countFrames(file)) / tookSeconds);
    sizes.push(bytes.length / tookSeconds);
  }
  const perSecond = summarize(rates).p50;
  const rows: Row[] = [
    {
      what: `processors, ${many} recordings`,
      unit: "count",
      measured: all,
      floor: { what: "the same pages, nobody records", value: none },
    },
    { what: `pictures of each, of ${framerate}`, unit: "1/s", measured: perSecond },
    { what: "size of each", unit: "bytes/s", measured: summarize(sizes).p50 },
  ];
  return { rows, detail: { none, all, rates, sizes } };
};

export const section: Section = {
  name: "replays",
  summary: "ten recordings at once: processors, pictures, bytes",
  run: measure,
};

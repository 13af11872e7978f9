/**
 * The time to fill three fields over HTTP with all checks, compared with puppeteer that types three texts without
 * checks.
 */
import { startCluster } from "../../test/support/cluster.ts";
import { interleaved } from "../interleaved.ts";
import type { Bench, Section } from "../section.ts";
import { summarize } from "../statistics.ts";
import { openShop } from "../vault/shop.ts";

const batch = 10;
const warmUpSeconds = 2;

const measure = async ({ seconds, signal, random, say }: Bench) => {
  await using parts = new AsyncDisposableStack();
  say("starting a cluster");
  const cluster = parts.use(await startCluster());
  await cluster.startOperator("operator").logged("leading");
  const { call } = await cluster.startApi("api");
  const shop = parts.use(await openShop(call));
  const variants = { fill: shop.fill, type: shop.type };
  const common = { batch, random: random(), signal };
  await interleaved({ ...common, seconds: warmUpSeconds }, variants);
  const forSeconds = seconds(15);
  say(`filling for ${forSeconds} s`);
  const times = await interleaved({ ...common, seconds: forSeconds }, variants);
  const [fill, type] = [summarize(times.fill), summarize(times.type)];
  const floor = (value: number) => ({ what: "puppeteer, no checks", value });
  return {
    rows: [
      {
        what: "fill of 3 fields, p50",
        unit: "ms" as const,
        measured: fill.p50,
        floor: floor(type.p50),
        target: { of: "ratio" as const, atMost: 3 },
      },
      { what: "fill of 3 fields, p99", unit: "ms" as const, measured: fill.p99, floor: floor(type.p99) },
    ],
    detail: { fill, type },
  };
};

export const section: Section = {
  name: "fill",
  summary: "three fields of a page filled over HTTP, against plain puppeteer on the same page",
  run: measure,
};

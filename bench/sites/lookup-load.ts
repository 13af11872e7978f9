/**
 * The load of the section `sites`, in its own process: lookups and an empty route in turns, then lookups at a rate.
 * Its client is the service's own, which leaves little garbage: collections of the load's process would count as
 * latency.
 */
import { Pool } from "undici";
import { callJson } from "../../src/core/leases/agent/agent-call.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { interleaved } from "../interleaved.ts";
import { emptyPath } from "../leases/empty-path.ts";
import { openLoop, poissonArrivals } from "../open-loop.ts";
import type { Job } from "../own-process.ts";
import { urlOf } from "./make-sites.ts";

export type LookupLoad = {
  url: string;
  apiKey: string;
  /** How many sites are known; 0: lookups ask for unknown ones. */
  sites: number;
  seconds: number;
  perSecond: number;
  seed: number;
};

/** `known`, `unknown`: lookups of targets about which something and nothing is known. Times in ms. */
export type LookupTimes = {
  turns: Record<"known" | "unknown" | "empty", number[]>;
  open: { latencies: number[]; lateness: number[]; errors: number };
};

/** Calls of one kind in a row. */
const batch = 20;
const warmUpSeconds = 3;

/** More than are open at once, unless the service stalls. */
const connections = 128;

const unknownUrls = 10_000;

const answerMs = 60_000;

const lookupPath = "/config-registry/lookup";

export const run: Job<LookupLoad, LookupTimes> = async ({ url, apiKey, sites, seconds, perSecond, seed }, signal) => {
  const random = seededRandom(seed);
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const post = (pool: Pool, path: string, body: object): Promise<string> =>
    callJson(pool, { origin: url, path, method: "POST", headers, body, timeoutMs: answerMs }, (answer) => {
      const text = answer.body.toString();
      if (answer.status >= 300) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
      return text;
    });
  // Made beforehand: their time is not the service's.
  const urls = Array.from({ length: sites || unknownUrls }, (_, n) => urlOf(n));
  const expected = sites > 0 ? '"type":"recommendation"' : '"recommendation":null';
  const lookup = async (pool: Pool): Promise<void> => {
    const url = urls[Math.floor(random() * urls.length)];
    const text = await post(pool, lookupPath, { url });
    if (!text.includes(expected)) throw new Error(`the lookup of ${url} was answered with ${text}`);
  };
  const one = new Pool(url, { connections: 1, pipelining: 1 });
  const many = new Pool(url, { connections, pipelining: 1 });
  try {
    let next = 0;
    const variants = {
      known: () => lookup(one),
      unknown: () => post(one, lookupPath, { url: `https://www.unknown-${next++}.example/` }),
      empty: () => post(one, emptyPath, {}),
    };
    await interleaved({ seconds: warmUpSeconds, batch, random, signal }, variants);
    const turns = await interleaved({ seconds, batch, random, signal }, variants);
    const at = (forSeconds: number) => poissonArrivals({ perSecond, seconds: forSeconds }, random);
    const call = async (): Promise<object> => {
      await lookup(many);
      return {};
    };
    await openLoop({ arrivals: at(warmUpSeconds), signal }, call);
    const { latencies, lateness, errors } = await openLoop({ arrivals: at(seconds), signal }, call);
    return { turns, open: { latencies, lateness, errors: errors.length } };
  } finally {
    await Promise.all([one.destroy(), many.destroy()]);
  }
};

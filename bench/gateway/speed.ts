/** Measures latency, throughput and connection time of the three ways, in turns. */
import { type Interleaved, interleaved } from "../interleaved.ts";
import type { Row } from "../section.ts";
import { type Summary, summarize } from "../statistics.ts";
import { type CdpClient, connectCdpClient } from "./cdp-client.ts";
import type { Way, Ways } from "./ways.ts";

type Measured = { rows: Row[]; detail: Record<string, Record<Way, Summary>> };

const ways = ["direct", "splices", "gateway"] as const;

/** One value for each of the ways. */
const forEachWay = <T>(make: (way: Way) => T): Record<Way, T> =>
  Object.fromEntries(ways.map((way) => [way, make(way)])) as Record<Way, T>;

const connectAll = async (urls: Record<Way, string>, parts: AsyncDisposableStack): Promise<Record<Way, CdpClient>> => {
  const clients = await Promise.all(
    ways.map(async (way) => parts.adopt(await connectCdpClient(urls[way]), (client) => client.close())),
  );
  return forEachWay((way) => clients[ways.indexOf(way)] as CdpClient);
};

const summaries = (times: Record<Way, number[]>): Record<Way, Summary> => forEachWay((way) => summarize(times[way]));

/** The rows of one time: what the gateway adds to it, and what two bare relays add. */
const addedRows = (what: string, times: Record<Way, Summary>, target?: Row["target"]): Row[] =>
  (["p50", "p99"] as const).flatMap((which): Row[] => {
    const floor = { what: "direct", value: times.direct[which] };
    const own = { what: `${what}, ${which}`, unit: "ms" as const, measured: times.gateway[which], floor };
    const relays = { what: `  two bare relays, ${which}`, unit: "ms" as const, measured: times.splices[which], floor };
    return [target && which === "p50" ? { ...own, target } : own, relays];
  });

/** Sends a command and waits for its answer, one at a time. */
export const measureRoundTrips = async ({ urls }: Ways, options: Interleaved): Promise<Measured> => {
  await using parts = new AsyncDisposableStack();
  const clients = await connectAll(urls, parts);
  const times = summaries(
    await interleaved(
      options,
      forEachWay((way) => () => clients[way].send("Browser.getVersion")),
    ),
  );
  return { rows: addedRows("CDP round trip", times, { of: "added", atMost: 0.3 }), detail: { roundTrips: times } };
};

/**
 * Size of an answer, and the number of concurrent commands: enough that the figure measures bytes and not round trips.
 */
const answerBytes = 1_000_000;
const answersAtOnce = 4;

/** A new page for a client, which runs the commands. */
const attachPage = async (client: CdpClient): Promise<string> => {
  const { result } = JSON.parse(String(await client.send("Target.createTarget", { url: "about:blank" })));
  const attach = { targetId: result.targetId, flatten: true };
  return JSON.parse(String(await client.send("Target.attachToTarget", attach))).result.sessionId;
};

export const measureThroughput = async ({ urls }: Ways, options: Interleaved): Promise<Measured> => {
  await using parts = new AsyncDisposableStack();
  const clients = await connectAll(urls, parts);
  const pages = forEachWay((way) => attachPage(clients[way]));
  const params = { expression: `"x".repeat(${answerBytes})`, returnByValue: true };
  const burst = async (way: Way): Promise<void> => {
    const page = await pages[way];
    const answers = Array.from({ length: answersAtOnce }, () => clients[way].send("Runtime.evaluate", params, page));
    for (const answer of await Promise.all(answers))
      if (answer.length < answerBytes)
        throw new Error(`an answer of ${answer.length} bytes: ${answer.subarray(0, 200)}`);
  };
  const times = summaries(
    await interleaved(
      options,
      forEachWay((way) => () => burst(way)),
    ),
  );
  const rate = (way: Way): number => (answerBytes * answersAtOnce * 1000) / times[way].p50;
  const floor = { what: "direct", value: rate("direct") };
  return {
    rows: [
      {
        what: "answers of 1 MB",
        unit: "bytes/s",
        measured: rate("gateway"),
        floor,
        target: { of: "ratio", atLeast: 0.8 },
      },
      { what: "  two bare relays", unit: "bytes/s", measured: rate("splices"), floor },
    ],
    detail: { megabyteBursts: times },
  };
};

/** From no connection to an open WebSocket. */
export const measureConnects = async ({ urls }: Ways, options: Interleaved): Promise<Measured> => {
  const open: CdpClient[] = [];
  const tidy = async (): Promise<void> => void (await Promise.all(open.splice(0).map((client) => client.close())));
  const times = summaries(
    await interleaved(
      { ...options, tidy },
      forEachWay((way) => async () => open.push(await connectCdpClient(urls[way]))),
    ),
  );
  return { rows: addedRows("connecting", times), detail: { connects: times } };
};

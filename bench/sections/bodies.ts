/**
 * How long one request keeps everybody else waiting: the longest hold of the api's event loop by the worst body of each
 * route.
 */
import { startSimulatedCluster } from "../../test/support/simulated-node/simulated-cluster.ts";
import { pathOf, withBody, worstBodies } from "../../test/support/worst-bodies.ts";
import type { Bench, Section } from "../section.ts";

/** Of each body the shortest of these holds counts: a longer one is the machine's. */
const rounds = 3;

type Caller = { url: string; call(method: string, path: string, body?: unknown): Promise<Response> };

/** The longest time, ms, that the api's event loop stood since the last call of this. */
const longestHold = async ({ url }: Caller): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds(?:\{.*\})? (\S+)$/m.exec(text) ?? [];
  if (seconds === undefined) throw new Error("the api has no metric of its event loop");
  return Number(seconds) * 1000;
};

const holdOf = async (api: Caller, send: () => Promise<Response>): Promise<number> => {
  const holds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await longestHold(api);
    await (await send()).arrayBuffer();
    holds.push(await longestHold(api));
  }
  return Math.min(...holds);
};

const measure = async (bench: Bench) => {
  await using cluster = await startSimulatedCluster({});
  const api = await cluster.startApi("api");
  const floor = await holdOf(api, () => api.call("POST", "/browser_pools/nothing/acquire", {}));
  const held: { route: string; body: string; ms: number }[] = [];
  for (const route of withBody) {
    const name = `${route.method.toUpperCase()} ${route.path}`;
    bench.say(name);
    for (const [body, value] of Object.entries(worstBodies(route))) {
      if (bench.signal.aborted) throw bench.signal.reason;
      const ms = await holdOf(api, () => api.call(route.method.toUpperCase(), pathOf(route), value));
      held.push({ route: name, body, ms });
    }
  }
  held.sort((one, other) => other.ms - one.ms);
  const [worst] = held;
  return {
    rows: [
      {
        what: `the loop held by the worst body: ${worst?.route}, ${worst?.body}`,
        unit: "ms" as const,
        measured: worst?.ms ?? Number.NaN,
        floor: { what: "an empty body", value: floor },
        target: { of: "measured" as const, atMost: 50 },
      },
    ],
    detail: held,
  };
};

export const section: Section = {
  name: "bodies",
  summary: "how long the worst body of each route holds the api's event loop",
  run: measure,
};

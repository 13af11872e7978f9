import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { telemetryCategories } from "../../src/core/model/settings/telemetry.ts";
import { createAgentTokens } from "../../src/core/protocol/agent-token.ts";
import { type CdpConnection, connectCdp } from "../../src/platform/cdp/cdp-connection.ts";
import { createTestAgents, runningIn, type TestAgent, type TestAgents } from "../../test/support/agent-process.ts";
import { devToolsOf, session } from "../../test/support/visited-agent.ts";
import { interleaved } from "../interleaved.ts";
import { cpuSecondsOf } from "../process-time.ts";
import type { Row, Section } from "../section.ts";
import { summarize } from "../statistics.ts";

/** What is captured of each browser. */
const captures = {
  off: undefined,
  "default set": { enabled: true },
  everything: {
    enabled: true,
    browser: Object.fromEntries(telemetryCategories.map((name) => [name, { enabled: true }])),
  },
} as const;
type Name = keyof typeof captures;
const names = Object.keys(captures) as Name[];

/** What a page loads, and how much it writes to its console. */
const images = 40;
const lines = 20;

const page = `<!doctype html><title>page</title><body>${Array.from(
  { length: images },
  (_, index) => `<img src="/image.svg?${index}">`,
).join("")}<script>for (let line = 0; line < ${lines}; line += 1) console.log("line", line, { line })</script>`;
const image = '<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50"><rect width="50" height="50"/></svg>';

const serve = (): Server =>
  createServer(({ url = "" }, response) => {
    response.setHeader("cache-control", "no-store");
    if (url.startsWith("/image")) response.setHeader("content-type", "image/svg+xml").end(image);
    else response.setHeader("content-type", "text/html").end(page);
  });

type Client = { agent: TestAgent; cdp: CdpConnection; tab: string; loaded(url: string): Promise<void> };

/** Reads the events of a session and drops them, as fast as they come. */
const drain = async (agent: TestAgent, signal: AbortSignal): Promise<void> => {
  const authorization = `Bearer ${createAgentTokens(agent.privateKey).tokenFor(agent.podUid)}`;
  const response = await fetch(`${agent.baseUrl}/telemetry?session=${session}&after=0`, {
    headers: { authorization },
    signal,
  });
  for await (const _chunk of response.body ?? []);
};

const openClient = async (agents: TestAgents, name: Name, stack: AsyncDisposableStack): Promise<Client> => {
  const telemetry = captures[name];
  const agent = await agents.start({ headless: true, ...(telemetry && { telemetry }) });
  await agent.bind(session, 1);
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  if (telemetry) void drain(agent, stop.signal).catch(() => undefined);
  const cdp = stack.use(await connectCdp(devToolsOf(agent), new AbortController().signal));
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank" });
  const { sessionId: tab } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  await cdp.send("Page.enable", undefined, { sessionId: tab });
  let onLoad: (() => void) | undefined;
  cdp.onEvent(({ method }) => {
    if (method === "Page.loadEventFired") onLoad?.();
  });
  return {
    agent,
    cdp,
    tab,
    async loaded(url) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onLoad = resolve;
      await cdp.send("Page.navigate", { url }, { sessionId: tab });
      await promise;
    },
  };
};

/** Processor time of these processes so far, ms. */
const cpuOf = async (pids: readonly number[]): Promise<number> => (await cpuSecondsOf(...pids)) * 1000;

const rowsOf = (what: string, values: Record<Name, number>, unit: Row["unit"], target?: Row["target"]): Row[] => [
  { what: `${what}, off`, unit, measured: values.off },
  ...names.slice(1).map((name): Row => {
    const floor = { what: "off", value: values.off };
    return { what: `  ${name}`, unit, measured: values[name], floor, ...(target && { target }) };
  }),
];

const eachOf = <T>(make: (name: Name) => T): Record<Name, T> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;

export const section: Section = {
  name: "telemetry",
  summary: "round trips, page loads and processor time while nothing, the default set and everything is captured",
  async run({ seconds, signal, random, say }) {
    await using stack = new AsyncDisposableStack();
    const agents = stack.use(createTestAgents());
    const server = serve();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stack.defer(() => void server.close());
    stack.defer(() => server.closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    say("starting three agents with their browsers");
    const opened = await Promise.all(names.map((name) => openClient(agents, name, stack)));
    const clients = eachOf((name) => opened[names.indexOf(name)] as Client);

    const turns = { batch: 20, random: random(), signal };
    const trips = await interleaved(
      { ...turns, seconds: seconds(15) },
      eachOf((name) => () => clients[name].cdp.send("Browser.getVersion", undefined)),
    );
    const cpu = eachOf(() => ({ agent: 0, browser: 0, loads: 0 }));
    const load = async (name: Name): Promise<void> => {
      const { agent, loaded } = clients[name];
      const pids = runningIn(agent.groups());
      const [agentMs, browserMs] = [await cpuOf([agent.child.pid ?? 0]), await cpuOf(pids)];
      await loaded(url);
      const used = cpu[name];
      used.agent += (await cpuOf([agent.child.pid ?? 0])) - agentMs;
      used.browser += (await cpuOf(pids)) - browserMs;
      used.loads += 1;
    };
    const loads = await interleaved(
      { ...turns, batch: 5, seconds: seconds(30) },
      eachOf((name) => () => load(name)),
    );
    const p50 = (times: Record<Name, number[]>) => eachOf((name) => summarize(times[name]).p50);
    return {
      rows: [
        ...rowsOf("CDP round trip through the agent, p50", p50(trips), "ms", { of: "ratio", atMost: 1.5 }),
        ...rowsOf("page with 41 requests and 20 lines, p50", p50(loads), "ms"),
        ...rowsOf(
          "agent's processor for it",
          eachOf((name) => cpu[name].agent / cpu[name].loads),
          "ms",
        ),
        ...rowsOf(
          "browser's processor for it",
          eachOf((name) => cpu[name].browser / cpu[name].loads),
          "ms",
        ),
      ],
      detail: { trips: eachOf((name) => summarize(trips[name])), loads: eachOf((name) => summarize(loads[name])), cpu },
    };
  },
};

/**
 * Clients of a lease that go away at each step of their handshake with the agent, cut off or by closing: nothing of
 * theirs is kept.
 *
 *   client ─► the agent's server ─► token ─► capture ─► DevTools
 */
import { createSecretKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type AgentServer, startAgentHttp } from "../../../src/core/agent/agent-http.ts";
import { createCdpProxy } from "../../../src/core/agent/agent-server.ts";
import type { DevToolsPlace } from "../../../src/core/agent/connect-dev-tools.ts";
import { createLeaseKeeper } from "../../../src/core/agent/lease-keeper.ts";
import { createFillTimes } from "../../../src/core/agent/shown-pages.ts";
import { createUpgrades } from "../../../src/core/agent/upgrades.ts";
import { sessionHeader } from "../../../src/core/protocol/agent-api.ts";
import { createLiveView } from "../../../src/features/live-view/agent/live-view.ts";
import { createBidiServer } from "../../../src/features/webdriver/agent/serve-bidi.ts";
import { eventually as wait } from "../../support/eventually.ts";
import { silent } from "../../support/lease-parts.ts";
import { listedOrder } from "../../support/listed-order.ts";
import { processesOf } from "../../support/processes.ts";
import { websocketAccept } from "../../support/websocket-accept.ts";

const bidiProgram = fileURLToPath(new URL("../../../src/features/webdriver/agent/main.ts", import.meta.url));

/** The answer to an upgrade with this head. */
const switching = (head: string): string => {
  const accept = websocketAccept(/^sec-websocket-key: (.*)\r$/im.exec(head)?.[1] ?? "");
  const lines = ["Connection: Upgrade", "Upgrade: websocket", `Sec-WebSocket-Accept: ${accept}`];
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`;
};

/** Chromium's end: takes connections, answers their upgrades, and no command. */
const startDevTools = async () => {
  const open = new Set<Socket>();
  let held: (() => void)[] | undefined;
  let hangs = false;
  const server = createServer((socket) => {
    open.add(socket);
    // What hangs does not even end its side when the other side has ended.
    socket.allowHalfOpen = hangs;
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
    socket.once("data", (head) => {
      const answer = (): void => void socket.write(switching(String(head)));
      if (held) held.push(answer);
      else answer();
    });
    socket.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const place: DevToolsPlace = { at: { host: "127.0.0.1", port }, path: "/devtools/browser/one" };
  return {
    place,
    open: () => open.size,
    /** Answers nobody until the returned function is called. */
    hold() {
      held = [];
      return () => {
        for (const answer of held ?? []) answer();
        held = undefined;
      };
    },
    /** New connections get nothing more than the answer, not even an end, until the returned function is called. */
    hang() {
      hangs = true;
      return () => {
        hangs = false;
      };
    },
    /** Resolves when all connections that were begun by now have come. */
    async come() {
      const last = connect(port, "127.0.0.1");
      const [accepted] = (await once(server, "connection")) as [Socket];
      last.destroy();
      await once(accepted, "close");
    },
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};

/** Before the test gives up. */
const eventually = <T>(what: string, ask: Parameters<typeof wait<T>>[1]): Promise<T> => wait(what, ask, 10_000);

let devTools: Awaited<ReturnType<typeof startDevTools>>;
let agent: AgentServer;
/** What the handshake waits for at the moment. */
const held = { authorization: Promise.resolve(), capture: Promise.resolve() };
/** The agent's end of the latest client, and its upgrade. */
let atAgent: Socket | undefined;
let served: Promise<void> | undefined;
const onOver = vi.fn();
const fills = createFillTimes();
const leases = createLeaseKeeper({
  podUid: "pod",
  browser: {
    isHealthy: async () => true,
    clearFiles: async () => true,
    freeTabs: async () => ({ closed: 0, isFree: true }),
    open: () => undefined,
    reset: async () => undefined,
    change: async () => "changed",
  },
  onOver,
  fills,
  log: silent,
});

beforeAll(async () => {
  devTools = await startDevTools();
  const browser = {
    devTools: () => devTools.place,
    pageOrder: () => listedOrder,
    folder: () => "/nonexistent",
    takeDownloads: () => undefined,
  };
  const agentKey = createSecretKey(randomBytes(32));
  const upgrade = createUpgrades({
    leases,
    agentKey,
    paths: {
      "/cdp": createCdpProxy(browser),
      "/webdriver": createBidiServer({ browser, log: silent }),
      "/view": createLiveView({ ...browser, shownPages: fills, mask: (text) => text }),
    },
    watch: { client: () => held.capture, fill: () => undefined },
  });
  agent = await startAgentHttp({
    address: "127.0.0.1",
    port: 0,
    agentKey,
    verify: () => held.authorization.then(() => true),
    routes: {},
    upgrade: (request, socket, ...more) => {
      atAgent = socket;
      served = upgrade(request, socket, ...more);
      return served;
    },
    requestTimeoutMs: 10_000,
    log: silent,
  });
  const lease = { session_id: "s", epoch: 1, seq: 1, timeout_seconds: 0.05, max_seconds: 3600, request: "{}" };
  expect(await leases.bind(lease)).toBe("bound");
});
afterAll(() => {
  leases.close();
  agent?.close();
  devTools?.close();
});

const connectTo = (path: string, headers: Record<string, string> = {}): Socket => {
  atAgent = undefined;
  const lines = Object.entries({
    host: "agent",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    authorization: "Bearer token",
    [sessionHeader]: "s",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const client = connect(agent.port, "127.0.0.1").on("error", () => undefined);
  client.write(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  return client;
};

const connections = (): number | undefined => leases.state().lease?.connections;
const isAdmitted = (): Promise<true> => eventually("the client counts", () => connections() === 1);
const bidiProcesses = async (): Promise<number[]> => {
  const all = await processesOf(bidiProgram);
  const stats = await Promise.all(all.map(({ pid }) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")));
  const ofThis = stats.filter((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(process.pid));
  return ofThis.map((stat) => Number.parseInt(stat, 10));
};

const hold = (what: keyof typeof held): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held[what] = promise;
  return resolve;
};

/** Brings a client up to the step. Returns what lets the handshake go on when the client has left. */
type Step = (client: Socket) => Promise<unknown>;
const steps: Record<string, { before(): () => void; reached: Step }> = {
  "while its token is checked": {
    before: () => hold("authorization"),
    reached: async () => void (await eventually("it is being checked", () => atAgent)),
  },
  "while the capture of what it does begins": { before: () => hold("capture"), reached: isAdmitted },
  "before DevTools answer": {
    before: () => devTools.hold(),
    reached: async () => void (await eventually("DevTools are asked", () => devTools.open() === 1)),
  },
  "as soon as it is connected": {
    before: () => () => undefined,
    reached: async (client) => void (await once(client, "data")),
  },
};

const ways = {
  "is cut off": (client: Socket) => client.resetAndDestroy(),
  closes: (client: Socket) => client.destroy(),
};
const early = Object.keys(steps).slice(0, 3);
const cases = [
  ...Object.keys(steps).flatMap((step) => Object.keys(ways).map((way) => ["/cdp", way, step])),
  ...early.flatMap((step) => ["/webdriver", "/view"].map((path) => [path, "is cut off", step])),
] as [path: string, way: keyof typeof ways, step: string][];

// LEASE-31
test.each(cases)("nothing is kept of a client of %s that %s %s", async (path, way, name) => {
  const step = steps[name];
  if (!step) throw new Error(name);
  const goOn = step.before();
  const client = connectTo(path);
  const wasAdmitted = name !== "while its token is checked";
  try {
    await step.reached(client);
    onOver.mockClear();
    ways[way](client);
    await eventually("the agent has noticed", () => atAgent?.closed || (way === "closes" && atAgent?.readableEnded));
  } finally {
    goOn();
    client.destroy();
  }
  await eventually("the agent's socket is closed", () => atAgent?.closed);
  await served;
  await devTools.come();
  await eventually("DevTools have no connection", () => devTools.open() === 0);
  await eventually("no process runs", async () => (await bidiProcesses()).length === 0);
  await eventually("nobody counts", () => connections() === 0);
  if (wasAdmitted) await eventually("the lease is over without a client", () => onOver.mock.calls.length > 0);
});

// LEASE-31, LEASE-14
test("a client that leaves a browser which hangs does not keep the lease in use", async () => {
  const goOn = devTools.hang();
  const client = connectTo("/cdp");
  await once(client, "data");
  goOn();
  onOver.mockClear();
  client.end();
  await eventually("nobody counts", () => connections() === 0);
  await eventually("the lease is over without a client", () => onOver.mock.calls.length > 0);
  client.destroy();
});

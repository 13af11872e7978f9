/**
 * Clients and agents that go away at each step of the gateway's handshake, cut off or by closing: the other end is
 * told, and nothing is kept of it.
 *
 *   client ─► gateway ─► session in Redis ─► connection to the agent ─► the agent's answer ─► bytes both ways
 */
import { spawn } from "node:child_process";
import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newId } from "../../../src/core/objects/new-id.ts";
import { eventually as wait } from "../../support/eventually.ts";
import { holdSession } from "../../support/held-session.ts";
import { usualPod } from "../../support/lease-parts.ts";
import { freeze } from "../../support/processes.ts";
import { provenUpgrade } from "../../support/proven-answers.ts";
import { type ApiWithLeases, startApiWithLeases } from "../projects/api-with-leases.ts";

/** Before the test gives up. */
const eventually = <T>(what: string, ask: Parameters<typeof wait<T>>[1]): Promise<T> => wait(what, ask, 15_000);

/** Takes connections and nothing more. */
const startAgent = async () => {
  const open = new Set<Socket>();
  const heads = new Map<Socket, Promise<Buffer[]>>();
  const server = createServer((socket) => {
    open.add(socket);
    heads.set(socket, once(socket, "data") as Promise<Buffer[]>);
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
    socket.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open.size,
    each: (act: (socket: Socket) => unknown) => open.forEach(act),
    /** Answers what was asked on each connection, and says nothing where nothing was. */
    answer(key: KeyObject) {
      for (const socket of open)
        heads.get(socket)?.then(
          ([head]) => socket.write(provenUpgrade(key, String(head))),
          () => undefined,
        );
    },
    close: () => void server.close(),
  };
};

let api: ApiWithLeases;
let agent: Awaited<ReturnType<typeof startAgent>>;
beforeAll(async () => {
  [api, agent] = await Promise.all([startApiWithLeases({ BROWSERPOOL_PROJECT_CONNECTIONS: "1" }), startAgent()]);
});
afterAll(async () => {
  agent?.close();
  await api?.[Symbol.asyncDispose]();
});

/** A client of a new session. `told`: what it was sent so far. */
const connectClient = async (address = agent.address) => {
  const project = newId();
  const { signingKey } = api.services;
  const { session, jwt } = await holdSession({ parts: api.parts, signingKey }, { project, address });
  const { hostname, port, host } = new URL(api.url);
  let told = "";
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  socket.on("data", (chunk) => {
    told += String(chunk);
  });
  const lines = [`GET /gateway/${session}/cdp?jwt=${jwt} HTTP/1.1`, `Host: ${host}`, "Connection: Upgrade"];
  socket.write(`${lines.join("\r\n")}\r\nUpgrade: websocket\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  return { socket, project, told: () => told };
};
type Client = Awaited<ReturnType<typeof connectClient>>;

const size = async (): Promise<number> => {
  const { values } = await api.services.metrics.gatewayConnections.get();
  return values[0]?.value ?? 0;
};
/** Whether the project's one place is free. */
const hasPlace = (project: string): boolean => {
  try {
    api.services.callerLimits.connect(project)();
    return true;
  } catch {
    return false;
  }
};

/** Holds up the next look for a session. Returns when it is asked for, and what lets it go on. */
const holdLookup = () => {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { store } = api.services;
  const lease: typeof store.lease = async (...which) => {
    asked.resolve();
    await goOn.promise;
    return store.lease(...which);
  };
  api.services.store = { ...store, lease };
  return {
    asked: asked.promise,
    goOn() {
      api.services.store = store;
      goOn.resolve();
    },
  };
};

const expectNothing = async ({ socket, project }: Client): Promise<void> => {
  // Whatever the gateway still does with what it has got, it has begun by now.
  await (await fetch(`${api.url}/livez`)).text();
  await eventually("the agent has no connection", () => agent.open() === 0);
  await eventually("the client has none", () => socket.closed);
  await eventually("the gateway counts none", async () => (await size()) === 0);
  await eventually("the project's place is free", () => hasPlace(project));
};

const isAsked = (): Promise<true> => eventually("the agent is asked", () => agent.open() === 1);
const answer = (): void => agent.answer(api.services.agentKeys.keyOf(usualPod));
const joined = async ({ told }: Client): Promise<void> => {
  await isAsked();
  answer();
  await eventually("it is connected", () => told().startsWith("HTTP/1.1 101"));
};
const ways = {
  "is cut off": (socket: Socket) => socket.resetAndDestroy(),
  closes: (socket: Socket) => socket.destroy(),
};
const cases = Object.keys(ways) as (keyof typeof ways)[];

// LIMIT-24
test.each(cases)("nothing is kept of a client that %s while its session is looked up", async (way) => {
  const { asked, goOn } = holdLookup();
  const client = await connectClient();
  try {
    await asked;
    ways[way](client.socket);
    // What it has sent comes before what comes after it.
    await (await fetch(`${api.url}/livez`)).text();
  } finally {
    goOn();
  }
  if (way === "closes") {
    // Until it is joined nobody reads of it that it has closed.
    await isAsked();
    answer();
  }
  await expectNothing(client);
});

test.each(cases)("nothing is kept of a client that %s before its agent answers", async (way) => {
  const client = await connectClient();
  await isAsked();
  ways[way](client.socket);
  if (way === "closes") answer();
  await expectNothing(client);
});

test.each(cases)("nothing is kept of a client that %s as soon as it is connected", async (way) => {
  const client = await connectClient();
  await joined(client);
  ways[way](client.socket);
  await expectNothing(client);
});

test.each(cases)("a client is told when its agent %s before it answers", async (way) => {
  const client = await connectClient();
  await isAsked();
  agent.each(ways[way]);
  await expectNothing(client);
  expect(client.told()).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"code":"unavailable"/is);
});

test.each(cases)("a client is told when its agent %s once it is connected", async (way) => {
  const client = await connectClient();
  await joined(client);
  agent.each(ways[way]);
  await expectNothing(client);
});

/** A program that listens, and whose queue is full: who connects waits. `goOn` lets it take what comes. */
const startFullListener = async () => {
  const program = `require("net").createServer((socket) => {
    console.log("open");
    socket.on("error", () => undefined).on("close", () => console.log("closed")).resume();
  }).listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  const [port] = (await once(output, "line")) as [string];
  output.on("line", (line) => lines.push(line));
  await freeze(child.pid);
  for (let queued = 0; queued < 2; queued += 1) {
    const filler = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void filler.destroy());
    await once(filler, "connect");
  }
  const count = (what: string): number => lines.filter((line) => line === what).length;
  return {
    address: `127.0.0.1:${port}`,
    goOn: () => void child.kill("SIGCONT"),
    opened: () => count("open"),
    left: () => count("open") - count("closed"),
  };
};

test("no connection to an agent stays of a client that has gone while it was made", async () => {
  const full = await startFullListener();
  const client = await connectClient(full.address);
  await eventually("the agent is being connected to", async () => (await size()) === 1);
  client.socket.resetAndDestroy();
  await expectNothing(client);
  expect(full.opened()).toBe(0);
  full.goOn();
  await eventually("the connection is made", () => full.opened() === 3);
  await eventually("those that filled the queue are left", () => full.left() === 2);
});

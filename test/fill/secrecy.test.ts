/** Where a value goes: into one CDP message for each field, and nowhere else. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { FillRequest } from "../../src/fill/fill-page.ts";
import { type FillParts, startFillParts } from "../support/fill-parts.ts";

type Command = { id: number; method: string; params?: { arguments?: { value?: unknown }[] } };

const secret = "hunter2-correct-horse-battery";

let parts: FillParts;
beforeAll(async () => {
  parts = await startFillParts();
});
afterEach(() => parts.clear());
afterAll(() => parts?.[Symbol.asyncDispose]());

/** A way to the browser that keeps every message. `disturb`: what it sends by itself before each answer. */
const startRelay = async (to: FillRequest["connect"], disturb?: string) => {
  const sent: string[] = [];
  const received: string[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", (near) => {
    const far = new WebSocket(to.url, { headers: to.headers });
    const waiting: string[] = [];
    near.on("message", (data) => {
      sent.push(String(data));
      if (far.readyState === WebSocket.OPEN) far.send(String(data));
      else waiting.push(String(data));
    });
    far.on("open", () => {
      for (const message of waiting) far.send(message);
    });
    far.on("message", (data) => {
      received.push(String(data));
      if (disturb !== undefined) near.send(disturb);
      near.send(String(data));
    });
    near.on("close", () => far.close());
    far.on("close", () => near.close());
  });
  await once(server, "listening");
  return {
    sent,
    received,
    connect: { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {} },
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

test("a value is an argument of the one call that writes it", async () => {
  await using relay = await startRelay(parts.connect);
  const page = await parts.open("frames");
  const values = { "#top": `${secret}-0`, "#in-cross": `${secret}-1` };
  expect((await parts.fill(page, values, { connect: relay.connect })).status).toBe("completed");
  const commands = relay.sent.map((text) => JSON.parse(text) as Command);
  const carriers = commands.filter((command) => JSON.stringify(command).includes(secret));
  expect(carriers.map(({ method, params }) => [method, params?.arguments?.[2]])).toEqual([
    ["Runtime.callFunctionOn", { value: `${secret}-0` }],
    ["Runtime.callFunctionOn", { value: `${secret}-1` }],
  ]);
  for (const { params, ...rest } of carriers) {
    const { arguments: _values, ...others } = params ?? {};
    expect(JSON.stringify([rest, others])).not.toContain(secret);
  }
  expect(relay.received.join()).not.toContain(secret);
});

test("no domain is enabled, and nothing is attached but the page and its frames", async () => {
  await using relay = await startRelay(parts.connect);
  await parts.open("plain", "?other");
  const page = await parts.open("frames");
  await parts.fill(page, { "#top": "a" }, { connect: relay.connect });
  const methods = new Set(relay.sent.map((text) => (JSON.parse(text) as Command).method));
  expect([...methods].sort()).toEqual([
    "Page.createIsolatedWorld",
    "Page.getFrameTree",
    "Runtime.callFunctionOn",
    "Runtime.evaluate",
    "Target.attachToTarget",
    "Target.getTargets",
    "Target.setAutoAttach",
  ]);
  const attached = relay.received.filter((text) => text.includes('"Target.attachedToTarget"'));
  const kinds = attached.map((text) => /"type":"(\w+)"/.exec(text)?.[1]);
  expect(kinds.filter((kind) => kind === "page")).toHaveLength(1);
  expect(kinds.filter((kind) => kind !== "page" && kind !== "iframe")).toEqual([]);
});

test.each<[string, string]>([
  ["fails", "#short"],
  ["is refused", "#nobody"],
])("a fill that %s tells no value, to its caller or in a log", async (_name, selector) => {
  const page = await parts.open("kinds");
  const outcome: unknown = await parts.fill(page, { "#text": secret, [selector]: secret }).catch((error) => error);
  expect(inspect(outcome, { depth: null, showHidden: true })).not.toContain(secret);
  expect(JSON.stringify(outcome)).not.toContain(secret);
  expect(outcome instanceof Error ? outcome.cause : undefined).toBeUndefined();
  expect(parts.agent.log()).not.toContain(secret);
});

test.each(["no JSON", "[]", '{"id":"x"}', '{"method":"Target.attachedToTarget"}', '{"id":999999,"result":{}}'])(
  "a browser that also says %s is understood",
  async (nonsense) => {
    await using relay = await startRelay(parts.connect, nonsense);
    const page = await parts.open("plain");
    expect((await parts.fill(page, { "#user": "ada" }, { connect: relay.connect })).status).toBe("completed");
  },
);

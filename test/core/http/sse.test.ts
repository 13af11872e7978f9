/** Answers of server-sent events, over a real server. */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ServerEvent } from "../../../src/core/http/route.ts";
import { type EventsDeps, sendEvents } from "../../../src/core/http/sse.ts";
import { AppError } from "../../../src/platform/base/errors.ts";
import { createLogger } from "../../../src/platform/base/log.ts";
import { eventually } from "../../support/eventually.ts";

const quick = { aliveMs: 20, stalledMs: 200, lastEventMs: 200 };

/** A server that answers with these events, and one reader of it. */
const withEvents = async (
  events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  more: Partial<Pick<EventsDeps, "requireAllowed" | "times">> = {},
) => {
  const stop = new AbortController();
  let sent: Promise<void> | undefined;
  const server = createServer((_request, response) => {
    const { signal } = stop;
    const deps = { signal, requireAllowed: () => undefined, log: createLogger("silent", "test"), ...more };
    sent = sendEvents(response, events(signal), deps);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const request = get({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, agent: false });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return {
    answer,
    stop,
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      request.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};

const wait = (signal: AbortSignal) => sleep(600_000, undefined, { signal, ref: false });
const dataIn = (sent: string): unknown[] =>
  [...sent.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as unknown);

// STREAM-3
test("events have their ids and data in one line each, and a silent stream says that it is alive", async () => {
  const events = async function* () {
    yield { id: "1", data: { text: "a\nb\r\u2028" } };
    yield { data: ["no id"] };
    await sleep(100);
  };
  await using stream = await withEvents(events, { times: quick });
  expect(stream.answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  const sent = await text(stream.answer);
  expect(sent).toMatch(/^id: 1\ndata: \{"text":"a\\nb\\r\u2028"\}\n\ndata: \["no id"\]\n\n(: alive\n\n)+$/);
});

// STREAM-4
test.each<[string, Error, string]>([
  ["the source fails", new AppError("not_found", "gone"), "not_found"],
  ["the source fails unexpectedly", new Error("secret words"), "internal_error"],
  ["the service stops", new AppError("unavailable", "stopping"), "unavailable"],
])("the last event says why, when %s", async (when, error, code) => {
  const failing = Promise.withResolvers<never>();
  const events = async function* () {
    yield { data: 1 };
    await failing.promise;
  };
  await using stream = await withEvents(events);
  await once(stream.answer, "readable");
  if (when === "the service stops") stream.stop.abort(error);
  else failing.reject(error);
  const sent = await text(stream.answer);
  expect(sent).toContain("event: error\n");
  expect(dataIn(sent)).toEqual([
    1,
    { event: "error", error: { code, message: expect.any(String) }, timestamp: expect.any(String) },
  ]);
  expect(sent).not.toContain("secret words");
});

// STREAM-5
test("a key that may not read on gets no further event, however many there are", async () => {
  let isAllowed = true;
  const times = { ...quick, aliveMs: 200 };
  // Never a pause that is as long as the time between two looks at the key.
  const events = async function* () {
    const untilMs = performance.now() + 20 * times.aliveMs;
    for (let count = 0; performance.now() < untilMs; count++) {
      yield { data: count };
      await sleep(1);
    }
  };
  const requireAllowed = (): void => {
    if (!isAllowed) throw new AppError("unauthorized", "this key is gone");
  };
  await using stream = await withEvents(events, { requireAllowed, times });
  const got: Buffer[] = [];
  for await (const chunk of stream.answer) {
    got.push(chunk as Buffer);
    if (got.length > 3) isAllowed = false;
  }
  expect(dataIn(Buffer.concat(got).toString()).at(-1)).toMatchObject({ error: { code: "unauthorized" } });
});

// STREAM-2
test("a reader that takes nothing is cut, and the source has not run ahead of it", async () => {
  let made = 0;
  let isOver = false;
  const events = async function* () {
    try {
      for (;;) {
        made += 1;
        yield { data: "x".repeat(10_000) };
      }
    } finally {
      isOver = true;
    }
  };
  await using stream = await withEvents(events, { times: quick });
  const broken = once(stream.answer, "error");
  await stream.sent();
  expect(isOver).toBe(true);
  expect(made * 10_000).toBeLessThan(32 * 1024 * 1024);
  // Only now: what was not taken is lost with the connection.
  await sleep(quick.lastEventMs * 2);
  stream.answer.resume();
  await broken;
});

test("a reader that goes ends the source", async () => {
  let isOpen = false;
  const events = async function* (signal: AbortSignal) {
    isOpen = true;
    try {
      yield { data: 1 };
      await wait(signal);
    } finally {
      isOpen = false;
    }
  };
  await using stream = await withEvents(events);
  await once(stream.answer, "readable");
  expect(isOpen).toBe(true);
  stream.answer.destroy();
  // As serve-route.ts does when its caller is gone.
  stream.stop.abort(new AppError("unavailable", "the caller has hung up"));
  await eventually("the source has ended", () => !isOpen);
  await stream.sent();
});

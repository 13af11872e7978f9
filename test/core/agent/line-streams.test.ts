import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AgentLines, createLineStreams } from "../../../src/core/agent/line-streams.ts";
import { eventually } from "../../support/eventually.ts";

/** As many as readers may have at once. */
const maxStreams = 16;

const server = createServer();
beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** An answer whose reader asks now, and the reader's hang-up. */
const asked = async (): Promise<{ response: ServerResponse; hangUp(): void }> => {
  const { port } = server.address() as AddressInfo;
  const reader = connect(port, "127.0.0.1").on("error", () => undefined);
  reader.write("GET / HTTP/1.1\r\nHost: agent\r\n\r\n");
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  return { response, hangUp: () => reader.resetAndDestroy() };
};

/** Lines that end when their reader is gone; `running` counts them. */
const endless = () => {
  let running = 0;
  const reply: AgentLines = {
    status: 200,
    async *lines(signal) {
      running += 1;
      try {
        yield {};
        if (!signal.aborted) await once(signal, "abort");
      } finally {
        running -= 1;
      }
    },
  };
  return { reply, running: () => running };
};

// STREAM-6
test("a stream counts as long as it has its reader, and not at all when the reader has hung up before it begins", async () => {
  const streams = createLineStreams();
  const { reply, running } = endless();
  for (let count = 0; count < maxStreams; count += 1) {
    const { response, hangUp } = await asked();
    hangUp();
    await eventually("the reader's end is noticed", () => response.closed);
    streams.send(response, reply);
  }
  expect(streams.isFull(reply)).toBe(false);
  await eventually("none of them runs", () => running() === 0);

  const readers = [];
  for (let count = 0; count < maxStreams; count += 1) readers.push(await asked());
  for (const { response } of readers) streams.send(response, reply);
  expect([streams.isFull(reply), streams.isFull({ ...reply, isReserved: true })]).toEqual([true, false]);
  await eventually("all of them run", () => running() === maxStreams);
  for (const { hangUp } of readers) hangUp();
  await eventually("there is room", () => !streams.isFull(reply));
  await eventually("none of them runs any more", () => running() === 0);
});

/** How long the body of a request may take. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { limitBodies, uploadGoesOn } from "../../../src/core/http/body-deadline.ts";

const withinMs = 300;

/** Sends a body of ten bytes, one each `everyMs` after the first; returns what was answered, and after which time. */
const trickle = async (
  onChunk: (request: IncomingMessage) => void,
  { everyMs, bytes = 10 }: { everyMs: number; bytes?: number },
): Promise<{ answer: string; ms: number }> => {
  const server = createServer((request, response) => {
    request.on("data", () => onChunk(request));
    request.on("end", () => response.end("whole"));
  });
  limitBodies(server, withinMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
    });
    const closed = once(socket, "close");
    const beginMs = performance.now();
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n");
    for (let sent = 0; sent < bytes && !socket.destroyed && answer === ""; sent += 1) {
      socket.write("x");
      await sleep(everyMs);
    }
    await closed;
    return { answer, ms: performance.now() - beginMs };
  } finally {
    socket.destroy();
    server.close();
  }
};

// HTTP-44
test("a body that does not come whole in its time is 408, and the connection is closed", async () => {
  const { answer } = await trickle(() => undefined, { everyMs: 100 });
  expect(answer).toMatch(/^HTTP\/1.1 408 /);
  expect(answer).toContain('"code":"request_timeout"');
  expect((await trickle(() => undefined, { everyMs: 1 })).answer).toMatch(/whole$/);
});

// HTTP-44
test("an upload may take longer, as long as bytes come", async () => {
  const { answer, ms } = await trickle(uploadGoesOn, { everyMs: 60 });
  expect(answer).toMatch(/whole$/);
  expect(ms).toBeGreaterThan(withinMs);
  expect((await trickle(uploadGoesOn, { everyMs: 1, bytes: 3 })).answer).toMatch(/^HTTP\/1.1 408 /);
});

import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bodyOf } from "./body-of.ts";

let server: Server;
let take: (body: ReturnType<typeof bodyOf>, from: IncomingMessage) => Promise<string>;
beforeEach(async () => {
  server = createServer(async (from, response) => {
    const body = bodyOf(from, (bytes) => (bytes > 3_000_000 ? new Error("too many") : undefined));
    const answer = await take(body, from).catch((error: Error) => error.message);
    response.writeHead(200, { "content-length": answer.length }).end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/**
 * Sends a body of so many pieces of 64 KiB whole, and resolves with the answer's text. (A client of Node that has its
 * answer sends no more.)
 */
const send = async (pieces: number): Promise<string> => {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${pieces * 65_536}\r\n\r\n`);
  const piece = Buffer.alloc(65_536);
  for (let sent = 0; sent < pieces; sent += 1) if (!socket.write(piece)) await once(socket, "drain");
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) {
    text += chunk;
    if (/\r\n\r\n.+/s.test(text)) break;
  }
  return text.slice(text.indexOf("\r\n\r\n") + 4);
};

const lengthOf = async (body: AsyncIterable<Buffer>): Promise<string> => {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return String(bytes);
};

test("a body is read to its end", async () => {
  take = lengthOf;
  expect(await send(40)).toBe(String(40 * 65_536));
});

test.each([
  ["it is too long", lengthOf, "too many"],
  [
    "its reader stops",
    async (body: AsyncIterable<Buffer>) => {
      for await (const _chunk of body) return "enough";
      return "nothing";
    },
    "enough",
  ],
  [
    "nobody reads it",
    async (body: ReturnType<typeof bodyOf>) => {
      body.destroy();
      return "at once";
    },
    "at once",
  ],
] as const)("the caller sends all and reads its answer when %s", async (_why, reader, answer) => {
  take = reader as typeof take;
  for (let round = 0; round < 5; round += 1) expect(await send(200)).toBe(answer);
});

test("a caller that hangs up breaks it off", async () => {
  const read = Promise.withResolvers<string>();
  take = (body) => {
    const length = lengthOf(body);
    length.then(read.resolve, (error: Error) => read.resolve(error.message));
    return length;
  };
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: "127.0.0.1", port, method: "PUT", headers: { "content-length": 1_000_000 } });
  sent.on("error", () => undefined);
  sent.write(Buffer.alloc(1000));
  setTimeout(() => sent.destroy(), 50);
  expect(await read.promise).toBe("the caller hung up");
});

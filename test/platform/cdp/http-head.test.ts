import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readHttpHead, withHeader, withoutHeader } from "../../../src/platform/cdp/http-head.ts";

let near: Socket;
let far: Socket;
beforeEach(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  [far] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [near, far]) socket.on("error", () => undefined);
});
afterEach(() => {
  near.destroy();
  far.destroy();
});

test("a head that comes in pieces is read whole, and what follows it stays in the socket", async () => {
  const reading = readHttpHead(near);
  for (const piece of ["HTTP/1.1 101 Switching", " Protocols\r\nUpgrade: websocket\r", "\nX-A:  b \r\n\r", "\nrest"]) {
    far.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const head = await reading;
  expect(head).toMatchObject({ status: 101, headers: { upgrade: "websocket", "x-a": "b" } });
  near.resume();
  expect(String((await once(near, "data"))[0])).toBe("rest");
  expect(withHeader(head, "x-b", "c")).toBe(`${head.text.slice(0, -2)}x-b: c\r\n\r\n`);
  expect(withoutHeader(head, "x-a")).toBe("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
});

test.each<[string, (socket: Socket) => void, RegExp]>([
  ["ends too soon", (socket) => void socket.end("HTTP/1.1 101 Sw"), /closed before/],
  ["breaks", (socket) => void socket.resetAndDestroy(), /closed before/],
  ["is no HTTP", (socket) => void socket.write("SSH-2.0\r\n\r\n"), /not HTTP/],
  ["never ends", (socket) => void socket.write("a".repeat(20_000)), /too long/],
  ["does not come", () => undefined, /no answer within 1000 ms/],
])("a head that %s is a failure", async (_what, act, message) => {
  const reading = readHttpHead(near, 1000);
  act(far);
  await expect(reading).rejects.toThrow(message);
});

test("a proxy of the older kind is understood", async () => {
  const reading = readHttpHead(near, 1000);
  far.write("HTTP/1.0 200 Connection established\r\n\r\n");
  expect(await reading).toMatchObject({ status: 200, headers: {} });
});

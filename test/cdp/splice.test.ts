import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { splice } from "../../src/cdp/splice.ts";

const server = createServer({ allowHalfOpen: true });
const sockets: Socket[] = [];
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => server.close());

/** Both ends of a connection. */
const pair = async (): Promise<[outer: Socket, inner: Socket]> => {
  const { port } = server.address() as AddressInfo;
  const outer = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [inner] = (await once(server, "connection")) as [Socket];
  sockets.push(outer, inner);
  return [outer, inner];
};

test("with a close at the first end, what came before it is written whole, however slow its reader is", async () => {
  let written = "";
  let goOn: (() => void) | undefined;
  const near = new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      written += chunk;
      goOn = done;
    },
  });
  const far = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  splice(near as Socket, far as Socket, { closeAtFirstEnd: true });
  far.push("first ");
  far.push("last");
  far.push(null);
  await once(far, "end");
  expect(near.destroyed).toBe(false);
  const closed = once(near, "close");
  while (!near.destroyed) {
    goOn?.();
    await nextTurn();
  }
  await closed;
  expect(written).toBe("first last");
});

test("with a close at the first end, both sides are closed then", async () => {
  const [client, near] = await pair();
  const [, far] = await pair();
  splice(near, far, { closeAtFirstEnd: true });
  const closed = Promise.all([once(near, "close"), once(far, "close")]);
  client.end("last");
  await closed;
});

test("without it, the other side goes on until it ends, too", async () => {
  const [client, near] = await pair();
  const [browser, far] = await pair();
  splice(near, far);
  client.end("question");
  expect(String(await buffer(browser))).toBe("question");
  browser.end("answer");
  expect(String(await buffer(client))).toBe("answer");
});

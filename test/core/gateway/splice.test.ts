/** Real sockets: client ─► near … far ◄─ agent, where the splice joins near and far. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answerOf, joinAgent } from "../../../src/core/gateway/agent-socket.ts";
import { endings } from "../../../src/core/gateway/endings.ts";
import { closingFrame } from "../../../src/platform/cdp/follow-frames.ts";
import { splice } from "../../../src/platform/cdp/splice.ts";
import { eventually } from "../../support/eventually.ts";

/** The two ends of one TCP connection. The first is configured as Node's HTTP server does it: half-open by default. */
const connection = async (): Promise<[accepted: Socket, connected: Socket]> => {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const connected = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [accepted] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [accepted, connected]) socket.on("error", () => undefined);
  return [accepted, connected];
};

let client: Socket;
let near: Socket;
let far: Socket;
let agent: Socket;
beforeEach(async () => {
  [near, client] = await connection();
  [agent, far] = await connection();
});
afterEach(() => {
  vi.useRealTimers();
  for (const socket of [client, near, far, agent]) socket.destroy();
});

const allClosed = (): Promise<true> =>
  eventually("all four ends are closed", () => [near, far].every(({ destroyed }) => destroyed) && client.closed);

test("bytes go both ways, up to the last ones", async () => {
  joinAgent(near, far, { isWebSocket: true });
  client.write("to the agent");
  expect(String((await once(agent, "data"))[0])).toBe("to the agent");
  agent.end("and back");
  expect(String((await once(client, "data"))[0])).toBe("and back");
  await allClosed();
});

test("a side is read only as fast as the other side takes the bytes", async () => {
  joinAgent(near, far, { isWebSocket: true });
  const chunk = Buffer.alloc(1_000_000);
  const sent = 64;
  for (let count = 0; count < sent; count++) agent.write(chunk);
  const taken = (): number => agent.bytesWritten - agent.writableLength;
  // The kernel's buffers take some megabytes; when they are full, no more bytes move.
  let before = -1;
  await eventually("the agent is held back", () => {
    const isStill = taken() === before && before > 0;
    before = taken();
    return isStill;
  });
  expect(near.writableLength + far.readableLength).toBeLessThan(1_000_000);
  expect(agent.writableLength).toBeGreaterThan(sent * 500_000);
  let received = 0;
  client.on("data", ({ length }) => {
    received += length;
  });
  await eventually("all of it has arrived", () => received === sent * chunk.length);
});

test.each(["client", "agent"])("when the %s ends or is cut, the other side is closed too", async (who) => {
  // Fails by a wait that runs out: for the end at the agent, or for the close of all sockets.
  joinAgent(near, far, { isWebSocket: true });
  agent.resume();
  client.resume();
  if (who === "client") client.end();
  else agent.destroy();
  await eventually("the agent sees the end", () => agent.readableEnded || agent.destroyed);
  agent.end();
  await allClosed();
});

test("bytes that one side sends after the other's end arrive", async () => {
  joinAgent(near, far, { isWebSocket: true });
  client.end("question");
  agent.resume();
  await once(agent, "end");
  agent.end("answer");
  expect(String((await once(client, "data"))[0])).toBe("answer");
  await allClosed();
});

/** All that the client gets, until its connection is over. */
const toldInAll = async (): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(client, "end");
  client.end();
  return Buffer.concat(chunks);
};
/** A message of five bytes, as a server sends it. */
const message = Buffer.from("\x81\x05hello", "latin1");
const going = closingFrame(1001, "the session has ended, or its browser has");

test.each([
  ["closes", (socket: Socket) => socket.end(message)],
  ["is cut", (socket: Socket) => socket.write(message, () => setImmediate(() => socket.resetAndDestroy()))],
])("a client whose agent %s gets a closing frame after the last message", async (_, leave) => {
  joinAgent(near, far, { isWebSocket: true });
  const told = toldInAll();
  leave(agent);
  expect(await told).toEqual(Buffer.concat([message, going]));
  await allClosed();
});

// LEASE-66
test("a client whose agent does not answer any more is told so", async () => {
  joinAgent(near, far, { isWebSocket: true });
  const told = toldInAll();
  // What TCP's probes end in.
  far.destroy(Object.assign(new Error("read ETIMEDOUT"), { code: "ETIMEDOUT" }));
  expect(await told).toEqual(closingFrame(1014, "the browser does not answer any more"));
  await allClosed();
});

test.each([
  ["in the middle of a message", message.subarray(0, 4)],
  ["in the middle of a message's head", message.subarray(0, 1)],
  ["after a closing frame of its own", closingFrame(1000, "")],
])("a client whose agent closes %s gets no closing frame", async (_, last) => {
  joinAgent(near, far, { isWebSocket: true });
  const told = toldInAll();
  agent.end(last);
  expect(await told).toEqual(last);
  await allClosed();
});

test("an answer that is no upgrade is passed on as it is", async () => {
  joinAgent(near, far, { isWebSocket: false });
  const told = toldInAll();
  agent.end('{"error":');
  expect(String(await told)).toBe('{"error":');
});

test("a client that does not close after its closing frame is cut", async () => {
  joinAgent(near, far, { isWebSocket: true }).end(endings.stopping);
  expect((await once(client, "data"))[0]).toEqual(
    closingFrame(1012, "this replica stops; connect to the same URL again"),
  );
  await eventually("both are closed", () => near.closed && far.closed);
});

test("with closeAtFirstEnd the first end closes both sides, without a wait for the other's", async () => {
  splice(near, far, { closeAtFirstEnd: true });
  client.end("last words");
  expect(String((await once(agent, "data"))[0])).toBe("last words");
  await allClosed();
  expect(agent.writableEnded).toBe(false);
});

test("with closeAtFirstEnd, what came before the first end is written whole, however slow its reader is", async () => {
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

test("an agent that never answers an upgrade is given up after 30 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const answer = answerOf(far);
  let isOver = false;
  const settled = answer.catch(() => undefined).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(29_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await settled;
  await expect(answer).rejects.toThrow("no answer within 30000 ms");
});

test("an agent that has answered may be silent for any time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  joinAgent(near, far, { isWebSocket: true });
  agent.write("hello");
  await once(client, "data");
  vi.advanceTimersByTime(3_600_000);
  expect([near.destroyed, far.destroyed]).toEqual([false, false]);
});

/** The kernel's timer of a socket of this machine; 2 is the timer of keep-alive probes. */
const timerOf = async ({ localPort, remotePort }: Socket): Promise<number> => {
  const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, "0");
  const lines = (await readFile("/proc/net/tcp", "utf8")).split("\n").map((line) => line.trim().split(/\s+/));
  const own = lines.find(([, local, remote]) => local?.endsWith(hex(localPort)) && remote?.endsWith(hex(remotePort)));
  return Number.parseInt(own?.[5] ?? "", 16);
};

test("keep-alive probes find a client or agent whose machine has vanished, so that it does not keep a lease in use", async () => {
  expect(await timerOf(near)).toBe(0);
  joinAgent(near, far, { isWebSocket: true });
  expect(await Promise.all([near, far].map(timerOf))).toEqual([2, 2]);
});

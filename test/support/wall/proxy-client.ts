/** A forwarding proxy of the wall by itself, and what a browser would send to it, byte by byte. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NetworkSetup } from "../../../src/core/protocol/browser-setup.ts";
import { type ForwardProxy, startForwardProxy } from "../../../src/features/network/agent/forward-proxy.ts";
import { createWayOut } from "../../../src/features/network/agent/way-out.ts";
import { listeningPort } from "../../../src/platform/base/listening-port.ts";
import type { ResolveName } from "../../../src/platform/net/resolve-name.ts";
import { ownAddress } from "./machine.ts";

type TestProxy = {
  /** Opens a connection to it. */
  open(): Promise<Socket>;
  /** Sends this text and returns all that comes until the proxy closes the connection. */
  send(text: string): Promise<string>;
  proxy: ForwardProxy;
  path: string;
  [Symbol.asyncDispose](): Promise<void>;
};

/** All that comes on a socket. */
export const allOf = async (socket: Socket): Promise<string> => {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => undefined);
  await once(socket, "close");
  return Buffer.concat(chunks).toString("latin1");
};

const noNames: ResolveName = () => Promise.reject(new Error("no such name"));

/** Starts a proxy with these rules. */
export const startTestProxy = async (
  setup: Parameters<typeof NetworkSetup.parse>[0] = {},
  resolve: ResolveName = noNames,
): Promise<TestProxy> => {
  const folder = await mkdtemp(join(tmpdir(), "wall-proxy-"));
  const path = join(folder, "proxy.sock");
  const proxy = await startForwardProxy(path, createWayOut(NetworkSetup.parse(setup), resolve));
  const open = async (): Promise<Socket> => {
    const socket = connect(path);
    await once(socket, "connect");
    return socket;
  };
  return {
    open,
    async send(text) {
      const socket = await open();
      const answer = allOf(socket);
      socket.write(text, "latin1");
      return answer;
    },
    proxy,
    path,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

type RawServer = {
  /** `address:port` on this machine's own address. */
  host: string;
  port: number;
  /** What each connection has sent so far. */
  received: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** A server that hands each connection, and what it sends, to `onData`. */
export const startRawServer = async (
  onData: (socket: Socket, text: string, connection: number) => void,
): Promise<RawServer> => {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = received.push("") - 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      received[connection] += chunk.toString("latin1");
      onData(socket, chunk.toString("latin1"), connection);
    });
  });
  server.listen(0, ownAddress);
  await once(server, "listening");
  const port = listeningPort(server);
  return {
    host: `${ownAddress}:${port}`,
    port,
    received,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

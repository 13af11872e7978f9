import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type RawData, type WebSocket, WebSocketServer } from "ws";

/** A command as it came in; `said` is what its client put into `params`. */
type Command = { id: number; method: string; said: { session?: string; command?: string } };

export type DevTools = {
  port: number;
  /** The path of one browser's endpoint; `onCommand` is told of every command and answers the command's result. */
  add(uid: string, onCommand: (command: Command) => object): string;
  /** Breaks the browser's connections; further ones are refused. */
  remove(uid: string): void;
  stop(): Promise<void>;
};

/** Longest command, bytes. */
const maxPayload = 1024 * 1024;

const parse = (data: RawData): Command | undefined => {
  try {
    const { id, method, params } = JSON.parse(data.toString());
    return typeof id === "number" && typeof method === "string" ? { id, method, said: params ?? {} } : undefined;
  } catch {
    return undefined;
  }
};

type Endpoint = { onCommand: (command: Command) => object; sockets: Set<WebSocket> };

/** Stands in for the DevTools of any number of browsers: one WebSocket server, a path for each. */
export const startDevTools = async (): Promise<DevTools> => {
  const endpoints = new Map<string, Endpoint>();
  const pathOf = (uid: string): string => `/devtools/browser/${uid}`;
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    maxPayload,
    perMessageDeflate: false,
    verifyClient: ({ req }: { req: IncomingMessage }) => endpoints.has(req.url ?? ""),
  });
  await once(server, "listening");
  server.on("connection", (socket, request) => {
    const endpoint = endpoints.get(request.url ?? "");
    if (!endpoint) return socket.terminate();
    endpoint.sockets.add(socket);
    socket.on("error", () => socket.terminate());
    socket.once("close", () => endpoint.sockets.delete(socket));
    socket.on("message", (data) => {
      const command = parse(data);
      if (!command) return socket.close(1008, "not a command");
      socket.send(JSON.stringify({ id: command.id, result: endpoint.onCommand(command) }));
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    add(uid, onCommand) {
      endpoints.set(pathOf(uid), { onCommand, sockets: new Set() });
      return pathOf(uid);
    },
    remove(uid) {
      for (const socket of endpoints.get(pathOf(uid))?.sockets ?? []) socket.terminate();
      endpoints.delete(pathOf(uid));
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      for (const socket of server.clients) socket.terminate();
      await closed;
    },
  };
};

/**
 * Stops a server that has callers: in a rolling upgrade, or when a node is drained.
 *
 *   drain ──► each answer has `Connection: close`, so that its caller's next request goes to another replica; requests are served
 *        ──► no request is open and none comes any more, or the time is over
 *
 * The server listens meanwhile: callers that do not know yet that it stops still send requests here. It does not close
 * kept-alive connections: a caller may send its next request at the moment of the close.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createBag } from "../../platform/base/bag.ts";

export type Drainable = {
  /**
   * Resolves when no request is open, or after `graceMs`. `busy`: whether anything else must end first, such as
   * upgraded sockets.
   */
  drain(graceMs: number, busy: () => boolean): Promise<void>;
};

/** How long the server waits for a next request: at most this time, ms, and at most this share of `graceMs`. */
const quietMs = 5000;
const quietShare = 0.2;

const checkEveryMs = 50;

/** Makes a server drainable. Call it before any other listener for the server's requests is added. */
export const drainable = (server: Server): Drainable => {
  const open = createBag<ServerResponse>();
  const connections = new Set<Socket>();
  let isDraining = false;
  let lastEndMs = -Infinity;
  const sayClose = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader("Connection", "close");
  };
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", (_request, response) => {
    const leave = open.add(response);
    response.once("close", () => {
      leave();
      lastEndMs = performance.now();
    });
    if (isDraining) sayClose(response);
  });
  return {
    async drain(graceMs, busy) {
      isDraining = true;
      const beganMs = performance.now();
      const untilMs = beganMs + graceMs;
      if (connections.size > 0) lastEndMs = beganMs;
      const patienceMs = Math.min(quietMs, graceMs * quietShare);
      for (const response of open.items()) sayClose(response);
      const isQuiet = (): boolean => performance.now() - lastEndMs >= patienceMs;
      while (performance.now() < untilMs && (open.size() > 0 || busy() || !isQuiet())) await sleep(checkEveryMs);
    },
  };
};

/**
 * The end of a server that has callers: a rolling upgrade, or a node that is emptied.
 *
 *   drain ──► every answer says `Connection: close`, so that its caller comes again elsewhere; requests are served on
 *        ──► nothing is open and nobody comes any more, or the time is over
 *
 * The server listens on meanwhile: who was not told yet that it goes still comes here, and would find nobody. Connections
 * that are kept alive are left open as well: a caller may be sending its next request just when one is closed.
 */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type Drainable = {
  /** Resolves when nothing is open, or after `graceMs`. `busy`: what else must end first, such as sockets that were upgraded. */
  drain(graceMs: number, busy: () => boolean): Promise<void>;
};

/** How long a next request is waited for, ms: at most, and as a part of all the time there is. */
const quietMs = 5000;
const quietShare = 0.2;

const lookEveryMs = 50;

/** Has to come before any other listener of the server's requests. */
export const drainable = (server: Server): Drainable => {
  const open = new Set<ServerResponse>();
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
    open.add(response);
    response.once("close", () => {
      open.delete(response);
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
      for (const response of open) sayClose(response);
      const isQuiet = (): boolean => performance.now() - lastEndMs >= patienceMs;
      while (performance.now() < untilMs && (open.size > 0 || busy() || !isQuiet())) await sleep(lookEveryMs);
    },
  };
};

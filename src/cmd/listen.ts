import type { Server } from "node:http";
import { hostPort } from "../platform/base/host-port.ts";
import { listeningPort } from "../platform/base/listening-port.ts";

/** Starts to listen; port 0: any free one. Returns the server's URL, e.g. `http://127.0.0.1:8080`. */
export const listen = async (server: Server, host: string, port: number): Promise<string> => {
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, host, () => listening.resolve());
  await listening.promise;
  return `http://${hostPort(host, listeningPort(server))}`;
};

/** Accepts no more connections, and cuts those that are still in use after `graceMs`. */
export const closeServer = async (server: Server, graceMs: number): Promise<void> => {
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed.promise;
  clearInterval(idle);
  clearTimeout(deadline);
};

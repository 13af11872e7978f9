import { once } from "node:events";
import { createServer } from "node:net";
import { listeningPort } from "../platform/base/listening-port.ts";
import { StartError } from "../platform/process/supervised-child.ts";

/**
 * Another program can take a port between its choice and its use; this many failures in a row must have another cause.
 */
const maxTries = 5;

/** Returns the port if nothing listens on it at that address now, else undefined. `port` 0: any free port. */
export const freePort = async (host: string, port = 0): Promise<number | undefined> => {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
    return listeningPort(server);
  } catch {
    return undefined;
  } finally {
    server.close();
  }
};

const isPortClash = (error: unknown): boolean =>
  error instanceof StartError && /address already in use/i.test(error.message);

/** Starts a program on a free loopback port, and again on another port when the first was taken in between. */
export const startOnFreePort = async <T>(start: (port: number) => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    const port = await freePort("127.0.0.1");
    if (port === undefined) throw new Error("no free port on 127.0.0.1");
    try {
      return await start(port);
    } catch (error) {
      if (tries === maxTries || !isPortClash(error)) throw error;
    }
  }
};

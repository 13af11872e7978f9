import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Time to reach an agent, ms. */
const connectTimeoutMs = 3000;

/** Connects to `host:port`. */
export const connectTo = async (address: string): Promise<Socket> => {
  const colon = address.lastIndexOf(":");
  const socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)), noDelay: true });
  const connected = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => connected.reject(new Error(`no connection within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  );
  socket.once("connect", () => connected.resolve());
  socket.once("error", (error) => connected.reject(error));
  try {
    await connected.promise;
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Joins two connections: bytes go through as they are, with back-pressure, and when one side ends or fails the other is
 * closed too. No frame is looked at.
 */
export const splice = (a: Duplex, b: Duplex): void => {
  const close = (): void => {
    a.destroy();
    b.destroy();
  };
  for (const side of [a, b]) {
    side.on("error", close);
    side.on("close", close);
  }
  a.pipe(b);
  b.pipe(a);
};

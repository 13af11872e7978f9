import type { Duplex } from "node:stream";

/** Time for the other side to read the last bytes and close the connection, ms; then the socket is destroyed. */
const lingerMs = 1000;

/** Writes the last bytes of a connection and closes it, even if the other side never does. What it still sends is dropped. */
export const endSocket = (socket: Duplex, lastBytes: Buffer | string): void => {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
  socket.end(lastBytes);
};

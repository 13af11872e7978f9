import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Time for a connection, with TLS, ms. */
const connectMs = 10_000;

const whenOpen = async (socket: Socket, event: "connect" | "secureConnect"): Promise<Socket> => {
  try {
    await once(socket, event, { signal: AbortSignal.timeout(connectMs) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** Opens a TCP connection to an address. Rejects after 10 s. */
export const dial = (address: string, port: number): Promise<Socket> =>
  whenOpen(connect({ host: address, port, noDelay: true }), "connect");

/** Opens a TLS connection to an address, whose certificate must be that of `host`. `ca`: authorities besides the public ones. */
export const dialTls = async (
  { address, host, port }: { address: string; host: string; port: number },
  ca: string[] | undefined,
): Promise<Socket> => {
  const socket = await dial(address, port);
  return whenOpen(
    connectTls({ socket, ...(host === address ? {} : { servername: host }), host, ...(ca && { ca }) }),
    "secureConnect",
  );
};

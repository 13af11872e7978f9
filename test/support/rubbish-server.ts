/**
 * A TLS server that sends rubbish with its certificate: a client that refuses the certificate sees two errors of one
 * socket.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TestCertificates } from "./test-certificates.ts";

type RubbishServer = {
  port: number;
  /** How many have connected. */
  connections(): number;
  [Symbol.asyncDispose](): Promise<void>;
};

const rubbish = Buffer.alloc(100, 0xff);

const listening = async (server: Server, host: string): Promise<number> => {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

export const startRubbishServer = async (
  { certificate, key }: TestCertificates,
  host = "127.0.0.1",
): Promise<RubbishServer> => {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  let connections = 0;
  const tls = createTlsServer({ cert: certificate, key }).on("tlsClientError", () => undefined);
  const tlsPort = await listening(tls, "127.0.0.1");
  const front = createServer((client) => {
    connections++;
    const behind = connect(tlsPort, "127.0.0.1");
    for (const socket of [client, behind]) keep(socket);
    client.pipe(behind);
    // The server's whole part of the handshake comes at once.
    behind.on("data", (data) => client.write(Buffer.concat([data, rubbish])));
    client.once("close", () => behind.destroy());
    behind.once("close", () => client.destroy());
  });
  const port = await listening(front, host);
  return {
    port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const server of [front, tls]) {
        server.close();
        await once(server, "close");
      }
    },
  };
};

/**
 * The ways to Redis on a machine without toxiproxy: relays that can be cut and led elsewhere. Faults that need more are
 * left out.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";
import type { Link, Links } from "./links.ts";

/** `target`: port on loopback. */
export const startPlainLinks = (target: number): Links => {
  let upstream = target;
  const cuts: (() => void)[] = [];
  const stops: (() => void)[] = [];

  const add = async (name: string): Promise<Link> => {
    const sockets = new Set<Socket>();
    let isEnabled = true;
    const cut = (): void => {
      for (const socket of sockets) socket.destroy();
    };
    const server = createServer((client) => {
      if (!isEnabled) return client.destroy();
      const redis = connect(upstream, "127.0.0.1");
      for (const socket of [client, redis]) {
        sockets.add(socket);
        socket.setNoDelay(true).once("close", () => sockets.delete(socket));
      }
      // An end of either side, by itself or by an error, is the end of both.
      return pipeline(client, redis, client, () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cuts.push(cut);
    stops.push(() => void server.close());
    return {
      name,
      port: (server.address() as AddressInfo).port,
      poison: () => Promise.reject(new Error("only toxiproxy can do that to a link")),
      async enable(enabled) {
        isEnabled = enabled;
        if (!enabled) cut();
      },
    };
  };
  const cutAll = (): void => {
    for (const cut of cuts) cut();
  };
  return {
    add,
    async aim(port) {
      upstream = port;
      cutAll();
    },
    async stop() {
      for (const stop of stops) stop();
      cutAll();
    },
  };
};

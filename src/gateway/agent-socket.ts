import { connect, type Socket } from "node:net";
import { splice } from "../cdp/splice.ts";

/** Deadline for connecting to an agent, ms. */
const connectTimeoutMs = 3000;

/** Deadline for the agent's first byte, ms: a Chromium on a busy node takes a second, one that hangs never answers. */
const firstByteTimeoutMs = 30_000;

/**
 * Idle time after which TCP probes the peer, ms: ten probes, a second apart, detect a machine that vanished without closing
 * its connections. The agent can't detect this: its peer is this process, so it would count the lease as used for ever.
 */
const keepAliveMs = 15_000;

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

/** Joins a client to its agent. Closes both when either closes or vanishes, or when the agent never begins to answer. */
export const spliceToAgent = (client: Socket, agent: Socket): void => {
  for (const side of [client, agent]) side.setKeepAlive(true, keepAliveMs);
  const giveUp = (): void => {
    client.destroy();
    agent.destroy();
  };
  const silent = setTimeout(giveUp, firstByteTimeoutMs);
  agent.once("data", () => clearTimeout(silent));
  agent.once("close", () => clearTimeout(silent));
  splice(client, agent);
};

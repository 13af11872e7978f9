import { connect, type Socket } from "node:net";
import { splitHostPort } from "../../platform/base/host-port.ts";
import { type HttpHead, readHttpHead } from "../../platform/cdp/http-head.ts";
import { splice } from "../../platform/cdp/splice.ts";

/** Deadline for connecting to an agent, ms. A client waits for this browser and no other, so it is patient. */
const connectTimeoutMs = 3000;

/**
 * Deadline for the head of the agent's answer, ms: a Chromium on a busy node takes a second, a hanging one never
 * answers.
 */
const firstByteTimeoutMs = 30_000;

/**
 * Idle time after which TCP probes the peer, ms: ten probes, a second apart, detect a machine that vanished without
 * closing its connections. The agent can't detect this: its peer is this process, so it would count the lease as used
 * for ever.
 */
const keepAliveMs = 15_000;

/** Connects to `host:port`, as URLs write it. */
export const connectTo = async (address: string): Promise<Socket> => {
  const socket = connect({ ...splitHostPort(address), noDelay: true });
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

/** The head of the agent's answer to an upgrade. Rejects when the agent closes, vanishes or never answers. */
export const answerOf = (agent: Socket): Promise<HttpHead> => readHttpHead(agent, firstByteTimeoutMs);

/** Joins a client to its agent. Closes both when either closes or vanishes. */
export const spliceToAgent = (client: Socket, agent: Socket): void => {
  for (const side of [client, agent]) side.setKeepAlive(true, keepAliveMs);
  splice(client, agent);
};

import { connect, type Socket } from "node:net";
import { splitHostPort } from "../../platform/base/host-port.ts";
import { closingFrame, followFrames } from "../../platform/cdp/follow-frames.ts";
import { type HttpHead, readHttpHead } from "../../platform/cdp/http-head.ts";
import { endSocket } from "../../platform/net/end-socket.ts";
import { type Ending, endings } from "./endings.ts";

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

/** A client that is joined to its agent. */
export type Joined = {
  /** Ends both connections, the client's with a closing frame that says why. */
  end(why: Ending): void;
};

/** Errors by which a peer that answers says that it has closed the connection. */
const closedByPeer: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);

/**
 * Joins a client to the agent that has answered its upgrade: bytes go both ways as they are, at the pace of the slower
 * side. When one side ends, the other is ended, too. A client whose agent is gone gets a closing frame, unless it has
 * got one or the agent stops in the middle of a frame. `isWebSocket`: whether the agent has accepted the upgrade.
 * `whyCut`: asked why the agent has closed a connection that still takes a closing frame; never rejects.
 */
export const joinAgent = (
  client: Socket,
  agent: Socket,
  { isWebSocket, whyCut = async () => endings.gone }: { isWebSocket: boolean; whyCut?: () => Promise<Ending> },
): Joined => {
  const frames = followFrames();
  let isOver = false;
  const end = (why: Ending | undefined): void => {
    if (isOver) return;
    isOver = true;
    agent.unpipe(client).destroy();
    const tell = ({ code, reason }: Ending): void => {
      if (!client.destroyed) endSocket(client, closingFrame(code, reason));
    };
    if (client.destroyed) return;
    if (!isWebSocket || !frames.takesFrame()) endSocket(client, "");
    else if (why) tell(why);
    else void whyCut().then(tell);
  };
  for (const side of [client, agent]) side.setKeepAlive(true, keepAliveMs);
  agent.on("data", frames.take);
  agent.on("error", ({ code }: NodeJS.ErrnoException) => end(closedByPeer.has(code) ? undefined : endings.lost));
  agent.on("end", () => end(undefined));
  agent.on("close", () => end(undefined));
  agent.pipe(client, { end: false });
  client.on("error", () => agent.destroy());
  client.on("close", () => agent.destroy());
  client.pipe(agent);
  return { end };
};

import { once } from "node:events";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";
import { WebSocket } from "ws";
import { z } from "zod";

/** Time for the browser's side to close, ms; a browser that hangs doesn't. */
const closeGraceMs = 250;

type Commands = ProtocolMapping.Commands;

/** Where a browser's DevTools are, and what its guard wants to see. */
export type CdpAddress = { url: string; headers: Record<string, string> };

/** The browser answered a command with an error, or its session ended before the answer. The message is the browser's: never pass it on. */
export class CdpRefused extends Error {
  override name = "CdpRefused";
}

/** The connection is gone: cut by the signal, or lost. */
export class CdpClosed extends Error {
  override name = "CdpClosed";
}

/** The browser's guard has one connection of this purpose already. */
export class CdpBusy extends Error {
  override name = "CdpBusy";
}

/**
 * A connection to a browser with flattened sessions. Commands are sent in the order of the calls, and one session's are
 * carried out in that order. There is no time limit for one command: the connection's signal is the limit for all.
 */
export type CdpConnection = {
  /** One command, to the browser or to a session. Rejects with `CdpRefused` or `CdpClosed`. */
  send<Method extends keyof Commands>(
    method: Method,
    params: Commands[Method]["paramsType"][0],
    sessionId?: string,
  ): Promise<Commands[Method]["returnType"]>;
  /** Sessions that the browser attached by itself below another one, so far: `Target.setAutoAttach` has them made. */
  attachedBelow(sessionId: string): string[];
  /** False as soon as the connection is being closed, by whichever side: nothing can be sent any more. */
  isOpen(): boolean;
  /** Closes the connection, and with it every session: the browser undoes what they have set. Never rejects. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** An answer has an `id`, an event a `method`. The events read here are about the session that their `params` name. */
const Message = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  method: z.string().optional(),
  params: z.object({ sessionId: z.string().optional() }).optional(),
  sessionId: z.string().optional(),
});

/** Undefined for what is no message: a browser that is out of its mind must not end this process. */
const readMessage = (data: unknown): z.infer<typeof Message> | undefined => {
  try {
    return Message.parse(JSON.parse(String(data)));
  } catch {
    return undefined;
  }
};

type Pending = { sessionId: string | undefined; resolve(result: unknown): void; reject(cause: Error): void };

/** Throws `CdpBusy` when the guard takes no second connection of this purpose. */
const opened = async (socket: WebSocket, signal: AbortSignal): Promise<void> => {
  let status: number | undefined;
  socket.once("unexpected-response", (request, response) => {
    status = response.statusCode;
    request.destroy(new Error("refused"));
  });
  try {
    await once(socket, "open", { signal });
  } catch {
    socket.terminate();
    if (status === 409) throw new CdpBusy("another connection of this purpose is open");
    throw new CdpClosed("the browser did not accept a connection");
  }
};

const close = async (socket: WebSocket): Promise<void> => {
  if (socket.readyState === WebSocket.CLOSED) return;
  const closed = Promise.withResolvers<void>();
  socket.once("close", () => closed.resolve());
  const timer = setTimeout(() => socket.terminate(), closeGraceMs);
  socket.close();
  await closed.promise;
  clearTimeout(timer);
};

/** Connects. From the moment that `signal` is aborted the connection is cut and all that waits for it rejects. */
export const connectCdp = async ({ url, headers }: CdpAddress, signal: AbortSignal): Promise<CdpConnection> => {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const pending = new Map<number, Pending>();
  const below = new Map<string, string[]>();
  let lastId = 0;

  const rejectAll = (cause: Error, isMeant: (call: Pending) => boolean): void => {
    for (const [id, call] of pending)
      if (isMeant(call)) {
        pending.delete(id);
        call.reject(cause);
      }
  };
  const cut = (): void => socket.terminate();
  signal.addEventListener("abort", cut);
  // A failure is followed by `close`, which tells whoever waits.
  socket.on("error", () => undefined);
  socket.once("close", () => {
    signal.removeEventListener("abort", cut);
    rejectAll(new CdpClosed("the connection to the browser is closed"), () => true);
  });

  const noteEvent = (method: string | undefined, sessionId: string, parent: string): void => {
    if (method === "Target.attachedToTarget") below.set(parent, [...(below.get(parent) ?? []), sessionId]);
    // What a session was asked and has not answered when it ends, it never answers.
    if (method === "Target.detachedFromTarget")
      rejectAll(new CdpRefused("the session has ended"), (call) => call.sessionId === sessionId);
  };
  socket.on("message", (data) => {
    const message = readMessage(data);
    if (!message) return;
    const { id, result, error, method, params, sessionId } = message;
    if (id === undefined) return noteEvent(method, params?.sessionId ?? "", sessionId ?? "");
    const call = pending.get(id);
    pending.delete(id);
    if (error) call?.reject(new CdpRefused(error.message));
    else call?.resolve(result);
  });
  await opened(socket, signal);

  const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
  const send: CdpConnection["send"] = (method, params, sessionId) => {
    if (!isOpen()) return Promise.reject(new CdpClosed("the connection to the browser is closed"));
    const call = Promise.withResolvers<unknown>();
    pending.set(++lastId, { sessionId, resolve: call.resolve, reject: call.reject });
    socket.send(JSON.stringify({ id: lastId, method, params, sessionId }));
    return call.promise as ReturnType<CdpConnection["send"]>;
  };
  return {
    send,
    isOpen,
    attachedBelow: (sessionId) => below.get(sessionId) ?? [],
    [Symbol.asyncDispose]: () => close(socket),
  };
};

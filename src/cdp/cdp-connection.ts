import { once } from "node:events";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";
import { WebSocket } from "ws";
import { z } from "zod";
import { CdpBusy, CdpClosed, CdpRefused } from "./cdp-errors.ts";
import { type CdpCall, createPendingCalls } from "./pending-calls.ts";

/** Time for the browser's side to close, ms; a browser that hangs doesn't. */
const closeGraceMs = 250;

type Commands = ProtocolMapping.Commands;

/**
 * Where a browser's DevTools are, and what its guard wants to see. `accepts`: whether whoever answers the upgrade is the one that is
 * meant; nothing is sent to anyone else. Left out, everyone is.
 */
export type CdpAddress = {
  url: string;
  headers: Record<string, string>;
  accepts?(answer: { status: number; headers: Record<string, string | string[] | undefined> }): boolean;
};

/**
 * A connection to a browser with flattened sessions. Commands are sent in the order of the calls, and one session's are
 * carried out in that order.
 */
export type CdpConnection = {
  /** One command. Rejects with `CdpRefused`, `CdpClosed` or `CdpTimeout`; the error's stack is the caller's. */
  send<Method extends keyof Commands>(
    method: Method,
    params: Commands[Method]["paramsType"][0],
    call?: CdpCall,
  ): Promise<Commands[Method]["returnType"]>;
  /** Sessions that the browser attached by itself below another one, so far: `Target.setAutoAttach` has them made. */
  attachedBelow(sessionId: string): string[];
  /** Calls `listener` with the id of each page that is made from now on, once `Target.setDiscoverTargets` was sent. */
  onPage(listener: (targetId: string) => void): void;
  /** False as soon as the connection is being closed, by whichever side: nothing can be sent any more. */
  isOpen(): boolean;
  /** Resolves when the connection is closed, by whichever side, and all pending calls are rejected. */
  closed: Promise<void>;
  /** Closes the connection, and with it every session: the browser undoes what they have set. Never rejects. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** An answer has an `id`, an event a `method`. The events read here are about the session that their `params` name. */
const Message = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  method: z.string().optional(),
  params: z
    .object({
      sessionId: z.string().optional(),
      targetInfo: z.object({ targetId: z.string(), type: z.string() }).optional().catch(undefined),
    })
    .optional(),
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

const connectionClosed = (): Error => new CdpClosed("the connection to the browser is closed");

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

const close = async (socket: WebSocket, closed: Promise<void>): Promise<void> => {
  if (socket.readyState === WebSocket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), closeGraceMs);
  socket.close();
  await closed;
  clearTimeout(timer);
};

/** Connects. From the moment that `signal` is aborted the connection is cut and all that waits for it rejects. */
export const connectCdp = async (
  { url, headers, accepts = () => true }: CdpAddress,
  signal: AbortSignal,
): Promise<CdpConnection> => {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  socket.once("upgrade", (answer) => {
    if (!accepts({ status: answer.statusCode ?? 0, headers: answer.headers })) socket.terminate();
  });
  const pending = createPendingCalls();
  const below = new Map<string, string[]>();
  const closed = Promise.withResolvers<void>();

  const cut = (): void => socket.terminate();
  signal.addEventListener("abort", cut);
  // A failure is followed by `close`, which tells whoever waits.
  socket.on("error", () => undefined);
  socket.once("close", () => {
    signal.removeEventListener("abort", cut);
    pending.rejectAll(connectionClosed);
    closed.resolve();
  });

  let pageListener: ((targetId: string) => void) | undefined;
  const noteEvent = (method: string | undefined, sessionId: string, parent: string): void => {
    if (method === "Target.attachedToTarget") below.set(parent, [...(below.get(parent) ?? []), sessionId]);
    // What a session was asked and has not answered when it ends, it never answers.
    if (method === "Target.detachedFromTarget")
      pending.rejectAll(() => new CdpRefused("the session has ended"), sessionId);
  };
  socket.on("message", (data) => {
    const message = readMessage(data);
    if (!message) return;
    const made = message.method === "Target.targetCreated" ? message.params?.targetInfo : undefined;
    if (made?.type === "page") pageListener?.(made.targetId);
    const { id, result, error, method, params, sessionId } = message;
    if (id === undefined) return noteEvent(method, params?.sessionId ?? "", sessionId ?? "");
    if (error) pending.reject(id, new CdpRefused(error.message));
    else pending.resolve(id, result);
  });
  await opened(socket, signal);

  const isOpen = (): boolean => socket.readyState === WebSocket.OPEN;
  const send: CdpConnection["send"] = (method, params, call = {}) => {
    if (!isOpen()) return Promise.reject(connectionClosed());
    const { id, answer } = pending.add(method, call);
    socket.send(JSON.stringify({ id, method, params, sessionId: call.sessionId }));
    // Chromium keeps to the protocol, whose types say what each method answers.
    return answer as ReturnType<CdpConnection["send"]>;
  };
  return {
    send,
    isOpen,
    closed: closed.promise,
    onPage(listener) {
      pageListener = listener;
    },
    attachedBelow: (sessionId) => below.get(sessionId) ?? [],
    [Symbol.asyncDispose]: () => close(socket, closed.promise),
  };
};

import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";
import { WebSocket } from "ws";
import { z } from "zod";
import { CdpClosed, CdpRefused } from "./cdp-errors.ts";
import { type CdpAddress, closeCdpSocket, openCdpSocket } from "./cdp-socket.ts";
import { type CdpCall, createPendingCalls } from "./pending-calls.ts";

type Commands = ProtocolMapping.Commands;

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
  /** Calls `listener` with every event from now on. */
  onEvent(listener: (event: CdpEvent) => void): void;
  /** False as soon as the connection is being closed, by whichever side: nothing can be sent any more. */
  isOpen(): boolean;
  /**
   * Resolves when the connection is closed, by whichever side, and all pending calls are rejected: with whether more
   * came than the bounds allow.
   */
  closed: Promise<{ isOverBounds: boolean }>;
  /** Closes the connection, and with it every session: the browser undoes what they have set. Never rejects. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** An event of a session, or of the browser itself. `params`: as Chromium's protocol says for the method. */
export type CdpEvent = { method: string; params: unknown; sessionId: string | undefined };

/**
 * `maxBytes`: when the browser sends more in all, the connection is closed; `maxMessageBytes`: also when one message is
 * larger. Left out: nothing bounds it but what `openCdpSocket` takes. `onLongEvent`: larger messages are left out
 * instead; of an event this is called, and what would have been answered rejects with `CdpRefused`. `isStrict`: what is
 * no message closes the connection, in place of being left out.
 */
export type CdpConnectionOptions = {
  maxBytes?: number;
  maxMessageBytes?: number;
  onLongEvent?: () => void;
  isStrict?: boolean;
};

/** An answer has an `id`, an event a `method`. The events read here are about the session that their `params` name. */
const Message = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  method: z.string().optional(),
  params: z
    .looseObject({
      // Of a picture of a page it is a number.
      sessionId: z.union([z.string(), z.number()]).optional(),
      targetInfo: z.looseObject({ targetId: z.string(), type: z.string() }).optional().catch(undefined),
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

/** The start of an answer, as Chromium writes it. */
const answerStart = /^\{"id":(\d+)[,}]/;

const connectionClosed = (): Error => new CdpClosed("the connection to the browser is closed");

/** Connects. From the moment that `signal` is aborted the connection is cut and all that waits for it rejects. */
export const connectCdp = async (
  address: CdpAddress,
  signal: AbortSignal,
  {
    maxBytes = Number.POSITIVE_INFINITY,
    maxMessageBytes = maxBytes,
    onLongEvent,
    isStrict = false,
  }: CdpConnectionOptions = {},
): Promise<CdpConnection> => {
  const pending = createPendingCalls();
  const onLong = (start: string): void => {
    const answered = answerStart.exec(start)?.[1];
    if (answered === undefined) onLongEvent?.();
    else pending.reject(Number(answered), new CdpRefused("the answer is too long"));
  };
  const socket = await openCdpSocket(address, signal, {
    ...(Number.isFinite(maxMessageBytes) && { maxMessageBytes }),
    ...(onLongEvent && { onLong }),
  });
  let received = 0;
  const below = new Map<string, string[]>();
  const closed = Promise.withResolvers<{ isOverBounds: boolean }>();

  socket.once("close", () => {
    pending.rejectAll(connectionClosed);
    closed.resolve({ isOverBounds: received > maxBytes });
  });

  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") received = Number.POSITIVE_INFINITY;
  });

  const detach = (parent: string, session: string): void => {
    const left = (below.get(parent) ?? []).filter((other) => other !== session);
    if (left.length > 0) below.set(parent, left);
    else below.delete(parent);
  };

  let pageListener: ((targetId: string) => void) | undefined;
  let eventListener: ((event: CdpEvent) => void) | undefined;
  const noteEvent = ({ method, params, sessionId }: z.infer<typeof Message>): void => {
    if (method === undefined) return;
    const [session, parent] = [String(params?.sessionId ?? ""), sessionId ?? ""];
    if (method === "Target.attachedToTarget") below.set(parent, [...(below.get(parent) ?? []), session]);
    // What a session was asked and has not answered when it ends, it never answers.
    if (method === "Target.detachedFromTarget") {
      pending.rejectAll(() => new CdpRefused("the session has ended"), session);
      detach(parent, session);
    }
    const made = method === "Target.targetCreated" ? params?.targetInfo : undefined;
    if (made?.type === "page") pageListener?.(made.targetId);
    eventListener?.({ method, params, sessionId });
  };
  socket.on("message", (data: Buffer) => {
    received += data.length;
    if (received > maxBytes) return socket.terminate();
    const message = readMessage(data);
    if (!message) return isStrict ? socket.terminate() : undefined;
    const { id, result, error } = message;
    if (id === undefined) noteEvent(message);
    else if (error) pending.reject(id, new CdpRefused(error.message));
    else pending.resolve(id, result);
  });
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
    onEvent(listener) {
      eventListener = listener;
    },
    attachedBelow: (sessionId) => below.get(sessionId) ?? [],
    [Symbol.asyncDispose]: () => closeCdpSocket(socket),
  };
};

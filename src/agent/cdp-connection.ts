import { z } from "zod";

/** The time that a command may take when the caller names none. */
const defaultTimeoutMs = 5000;

export type CdpCall = {
  /** A flattened session; without it the command goes to the browser itself. */
  sessionId?: string;
  timeoutMs?: number;
};

/** The agent's own connection to the browser: commands only, it subscribes to no events. */
export type CdpConnection = {
  /** Resolves with the command's `result`. Rejects when Chromium refuses it, the time is over or the connection closes. */
  send(method: string, params?: Record<string, unknown>, call?: CdpCall): Promise<unknown>;
  /** Resolves when the connection is closed, from whichever side. */
  closed: Promise<void>;
  close(): void;
};

const Reply = z.object({
  id: z.int().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
type Reply = z.infer<typeof Reply>;

/** A message as a reply; undefined when it isn't one. */
const readReply = (message: unknown): Reply | undefined => {
  try {
    return Reply.parse(JSON.parse(String(message)));
  } catch {
    return undefined;
  }
};

type Pending = { resolve(result: unknown): void; reject(cause: unknown): void };

const connected = (socket: WebSocket, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.close();
      reject(new Error(`DevTools did not accept a connection within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.addEventListener("open", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener("close", () => {
      clearTimeout(timer);
      reject(new Error("DevTools refused the connection"));
    });
  });

/** Connects to a DevTools WebSocket on this machine. Rejects when it is not open after `timeoutMs`. */
export const connectCdp = async (url: string, timeoutMs: number): Promise<CdpConnection> => {
  const socket = new WebSocket(url);
  const pending = new Map<number, Pending>();
  let lastId = 0;
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener("close", ({ code }) => {
      const cause = new Error(`the DevTools connection closed with code ${code}`);
      for (const { reject } of pending.values()) reject(cause);
      pending.clear();
      resolve();
    });
  });
  socket.addEventListener("message", ({ data }) => {
    const reply = readReply(data);
    const call = reply?.id === undefined ? undefined : pending.get(reply.id);
    if (reply?.error) call?.reject(new Error(reply.error.message));
    else call?.resolve(reply?.result);
  });
  await connected(socket, timeoutMs);

  const send: CdpConnection["send"] = (method, params = {}, call = {}) => {
    // Made here, so that its stack shows who sent the command and not the socket's event.
    const failure = new Error(`DevTools command ${method} failed`);
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        pending.delete(id);
        end();
      };
      const fail = (cause: unknown): void => settle(() => reject(Object.assign(failure, { cause })));
      const limitMs = call.timeoutMs ?? defaultTimeoutMs;
      const timer = setTimeout(() => fail(new Error(`no answer within ${limitMs} ms`)), limitMs);
      if (socket.readyState !== WebSocket.OPEN) return fail(new Error("the DevTools connection is closed"));
      pending.set(id, { resolve: (result) => settle(() => resolve(result)), reject: fail });
      socket.send(JSON.stringify({ id, method, params, ...(call.sessionId && { sessionId: call.sessionId }) }));
    });
  };
  return { send, closed, close: () => socket.close() };
};

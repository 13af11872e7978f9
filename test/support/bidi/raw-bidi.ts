/** WebDriver BiDi over a plain WebSocket, as a client without a library uses it. */
import { eventually } from "../eventually.ts";

type Params = Record<string, unknown>;
type BidiEvent = { method: string; params: Params };
type Answer = { type: string; id: number | null; result?: unknown; error?: string; message?: string };

/** An answer with an error. `message`: the code. */
export class BidiError extends Error {}

/** The connection is closed. */
export class BidiClosed extends Error {}

export type RawBidi = {
  /** Sends one command. Rejects with a `BidiError`, or when the socket closes. */
  send<Result = Params>(method: string, params?: Params): Promise<Result>;
  /** Sends anything. Resolves with the next answer that has no id, or the id 0. */
  sendRaw(data: string | Uint8Array<ArrayBuffer>): Promise<Answer>;
  /** The events that came so far. */
  events: BidiEvent[];
  /** Resolves with the first event of this method, from the `since`-th event on, that is meant. */
  event(method: string, since: number, isMeant?: (params: Params) => boolean): Promise<Params>;
  /** Resolves with code and reason when either side has closed the socket. */
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
};

/** Connects to a URL of WebDriver BiDi. Rejects when the upgrade is refused. */
export const connectRawBidi = async (url: string): Promise<RawBidi> => {
  const socket = new WebSocket(url);
  const pending = new Map<number | null, PromiseWithResolvers<Answer>>();
  const events: BidiEvent[] = [];
  let lastId = 0;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  void closed.then(() => {
    for (const call of pending.values()) call.reject(new BidiClosed());
  });
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data as string) as Answer & BidiEvent;
    if (message.type === "event") return void events.push(message);
    pending.get(message.id || null)?.resolve(message);
    pending.delete(message.id || null);
  });
  const ask = (id: number | null, data: string | Uint8Array<ArrayBuffer>): Promise<Answer> => {
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new BidiClosed());
    const call = Promise.withResolvers<Answer>();
    pending.set(id, call);
    socket.send(data);
    return call.promise;
  };
  const opened = Promise.withResolvers<void>();
  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("close", () => opened.reject(new Error("the connection was refused")));
  await opened.promise;
  return {
    async send<Result>(method: string, params: Params = {}) {
      lastId += 1;
      const { type, result, error, message } = await ask(lastId, JSON.stringify({ id: lastId, method, params }));
      if (type !== "success") throw new BidiError(error, { cause: message });
      return result as Result;
    },
    sendRaw: (data) => ask(null, data),
    events,
    event: (method, since, isMeant = () => true) =>
      eventually(
        `${method} has come`,
        async () => events.slice(since).find((event) => event.method === method && isMeant(event.params))?.params,
        8000,
      ),
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
};

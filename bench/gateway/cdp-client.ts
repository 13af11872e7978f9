/** A CDP client that costs as little as possible, because its own time is part of every figure. */
import { once } from "node:events";
import { WebSocket } from "ws";

export type CdpClient = {
  /** Sends a command and resolves with its answer, unparsed. */
  send(method: string, params?: object, sessionId?: string): Promise<Buffer>;
  close(): Promise<void>;
};

/** The id of an answer; Chromium writes it first: `{"id":7,…`. Events have no id. */
const idOf = (message: Buffer): number =>
  message.subarray(0, 6).equals(Buffer.from('{"id":')) ? Number.parseInt(message.toString("latin1", 6, 18), 10) : 0;

/** Connects. Rejects when the upgrade is refused. */
export const connectCdpClient = async (url: string): Promise<CdpClient> => {
  const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  const pending = new Map<number, PromiseWithResolvers<Buffer>>();
  let lastId = 0;
  socket.on("message", (message: Buffer) => {
    const id = idOf(message);
    pending.get(id)?.resolve(message);
    pending.delete(id);
  });
  socket.on("close", () => {
    for (const call of pending.values()) call.reject(new Error("the connection closed"));
    pending.clear();
  });
  await once(socket, "open");
  socket.on("error", () => undefined);
  return {
    send(method, params = {}, sessionId) {
      lastId += 1;
      const call = Promise.withResolvers<Buffer>();
      pending.set(lastId, call);
      socket.send(JSON.stringify({ id: lastId, method, params, sessionId }));
      return call.promise;
    },
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
};

import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Pool } from "../pools.ts";
import { type CallLog, reasonOf } from "./call-log.ts";

export type Session = { id: string; cdpUrl: string; pool: Pool };

/** An open CDP connection of a client. */
export type Cdp = {
  /** One command, which names the session that the client means; false when no answer came. */
  command(): Promise<boolean>;
  close(): void;
};

const connectMs = 4000;
const commandMs = 4000;

const commandsOf = (socket: WebSocket, session: Session, begin: CallLog): Cdp => {
  let lastId = 0;
  return {
    async command() {
      lastId += 1;
      const id = lastId;
      const command = `${session.id}/${Math.random().toString(36).slice(2)}/${id}`;
      const end = begin({ op: "cdp", pool: session.pool.uid, session: session.id, command });
      const answer = Promise.withResolvers<boolean>();
      const given = new AbortController();
      const onMessage = (data: Buffer): void => {
        if (JSON.parse(data.toString()).id === id) answer.resolve(true);
      };
      const onClose = (): void => answer.resolve(false);
      socket.on("message", onMessage);
      socket.once("close", onClose);
      void sleep(commandMs, undefined, { signal: given.signal }).then(onClose, () => undefined);
      if (socket.readyState === WebSocket.OPEN)
        socket.send(JSON.stringify({ id, method: "Browser.getVersion", params: { session: session.id, command } }));
      else onClose();
      const isAnswered = await answer.promise;
      given.abort();
      socket.off("message", onMessage);
      socket.off("close", onClose);
      end({ outcome: isAnswered ? "answered" : "cut" });
      return isAnswered;
    },
    close: () => socket.terminate(),
  };
};

/** Connects through the replica at `baseUrl`; undefined when that is refused or fails. */
export const openCdp = async (session: Session, baseUrl: string, begin: CallLog): Promise<Cdp | undefined> => {
  const end = begin({ op: "connect", pool: session.pool.uid, session: session.id });
  const url = session.cdpUrl.replace(/^ws:\/\/[^/]+/, baseUrl.replace("http", "ws"));
  const socket = new WebSocket(url, { handshakeTimeout: connectMs, perMessageDeflate: false });
  let status: number | undefined;
  socket.on("unexpected-response", (_request, response) => {
    status = response.statusCode;
    response.resume();
    socket.terminate();
  });
  socket.on("error", () => undefined);
  try {
    await once(socket, "open");
    end({ outcome: "ok" });
    return commandsOf(socket, session, begin);
  } catch (error) {
    const refusal = status === 404 || status === 401 ? "gone" : "error";
    end({
      outcome: status === undefined ? "cut" : refusal,
      ...(status !== undefined && { status }),
      detail: reasonOf(error),
    });
    return undefined;
  }
};

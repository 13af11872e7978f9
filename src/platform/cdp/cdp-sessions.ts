/** A connection to a browser seen as sessions: of the browser itself, of a target, and of what the browser attaches. */
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.js";
import type { CdpConnection } from "./cdp-connection.ts";
import type { CdpEvents } from "./cdp-types.ts";

type Commands = ProtocolMapping.Commands;

export type CdpSession = {
  /** One command of this session. Rejects as `CdpConnection.send` does. */
  send<Method extends keyof Commands>(
    method: Method,
    ...params: Commands[Method]["paramsType"]
  ): Promise<Commands[Method]["returnType"]>;
  /** Calls `listener` with each event of this name, from now on. */
  on<Event extends keyof CdpEvents>(event: Event, listener: (params: CdpEvents[Event][0]) => void): void;
  /** Calls `listener` with each session that the browser attaches below this one (`Target.setAutoAttach`). */
  onAttached(listener: (session: CdpSession) => void): void;
  /** Calls no listener of this session any more. */
  mute(): void;
};

/** Listeners for events by their method; they are called in the order in which they came. */
export const createListeners = (): Pick<CdpSession, "on" | "mute"> & Pick<Own, "emit"> => {
  const listeners = new Map<string, ((params: never) => void)[]>();
  return {
    on: (event, listener) => void listeners.set(event, [...(listeners.get(event) ?? []), listener]),
    emit(method, params) {
      for (const listener of listeners.get(method) ?? []) listener(params as never);
    },
    mute: () => listeners.clear(),
  };
};

type Own = { session: CdpSession; emit(method: string, params: unknown): void };

const createSession = (connection: CdpConnection, sessionId: string | undefined, sessionOf: SessionOf): Own => {
  const { on, emit, mute } = createListeners();
  return {
    session: {
      on,
      mute,
      // Undefined only where the command takes none.
      send: (method, ...[params]) =>
        connection.send(method, params as never, sessionId === undefined ? {} : { sessionId }),
      onAttached: (listener) => on("Target.attachedToTarget", (event) => listener(sessionOf(event.sessionId))),
    },
    emit,
  };
};

type SessionOf = (sessionId: string) => CdpSession;

/**
 * `browser`: the browser's own session. `attach`: a new one of a target. A listener that throws, as for an event that
 * Chromium would not send, closes the connection: nothing that comes from a browser ends this process.
 */
export const openSessions = (
  connection: CdpConnection,
): { browser: CdpSession; attach(targetId: string): Promise<CdpSession> } => {
  const sessions = new Map<string, Own>();
  const ownOf = (sessionId: string | undefined): Own => {
    const key = sessionId ?? "";
    const own = sessions.get(key) ?? createSession(connection, sessionId, (id) => ownOf(id).session);
    sessions.set(key, own);
    return own;
  };
  const { session: browser } = ownOf(undefined);
  connection.onEvent(({ method, params, sessionId }) => {
    try {
      sessions.get(sessionId ?? "")?.emit(method, params);
      if (method === "Target.detachedFromTarget") sessions.delete((params as { sessionId: string }).sessionId);
    } catch {
      void connection[Symbol.asyncDispose]();
    }
  });
  return {
    browser,
    async attach(targetId) {
      const { sessionId } = await connection.send("Target.attachToTarget", { targetId, flatten: true });
      return ownOf(sessionId).session;
    },
  };
};

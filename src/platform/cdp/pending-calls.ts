import { CdpTimeout } from "./cdp-errors.ts";

export type CdpCall = {
  /** A flattened session; without it the command goes to the browser itself. */
  sessionId?: string;
  /** Deadline of this command, ms; without it only the connection's signal limits it. */
  timeoutMs?: number;
};

/** The commands that were sent and have no answer yet. */
type PendingCalls = {
  /** To be called when a command is sent: the stack of its errors begins here. */
  add(method: string, call: CdpCall): { id: number; answer: Promise<unknown> };
  /** Does nothing for an id that is not pending any more. */
  resolve(id: number, result: unknown): void;
  reject(id: number, error: Error): void;
  /**
   * Rejects the calls of one session, or all of them. `why` makes a new error for each, since each has its own stack.
   */
  rejectAll(why: () => Error, sessionId?: string): void;
};

/**
 * Gives an error the stack of `sent`, which was made when the command was sent. Its own stack would start at the
 * socket's event and name no caller.
 */
const withStackOf = (sent: Error, error: Error): Error => {
  error.stack = `${error}${sent.stack?.slice(String(sent).length) ?? ""}`;
  return error;
};

type Pending = {
  sessionId: string | undefined;
  end(): void;
  resolve(result: unknown): void;
  reject(error: Error): void;
};

/** None yet. Ids count from 1. */
export const createPendingCalls = (): PendingCalls => {
  const calls = new Map<number, Pending>();
  let lastId = 0;
  const end = (id: number): Pending | undefined => {
    const call = calls.get(id);
    calls.delete(id);
    call?.end();
    return call;
  };
  const reject: PendingCalls["reject"] = (id, error) => end(id)?.reject(error);
  return {
    add(method, { sessionId, timeoutMs }) {
      const sent = new Error(method);
      const id = ++lastId;
      const answer = Promise.withResolvers<unknown>();
      const timer =
        timeoutMs && setTimeout(() => reject(id, new CdpTimeout(`no answer within ${timeoutMs} ms`)), timeoutMs);
      calls.set(id, {
        sessionId,
        end: () => clearTimeout(timer),
        resolve: answer.resolve,
        reject: (error) => answer.reject(withStackOf(sent, error)),
      });
      return { id, answer: answer.promise };
    },
    resolve: (id, result) => end(id)?.resolve(result),
    reject,
    rejectAll(why, sessionId) {
      for (const [id, call] of calls) if (sessionId === undefined || call.sessionId === sessionId) reject(id, why());
    },
  };
};

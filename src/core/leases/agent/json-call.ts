import { Readable } from "node:stream";
import type { Dispatcher } from "undici";

type JsonCall = {
  /** `http://host:port` */
  origin: string;
  path: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  headers: Record<string, string>;
  /** Sent as JSON; bytes and streams as they are. */
  body?: object | Buffer | Readable;
  /** Deadline of the whole call, ms. */
  timeoutMs: number;
};

const timedOut = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: "TimeoutError" });

export type JsonAnswer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

const written = (body: object): string | Buffer | Readable =>
  Buffer.isBuffer(body) || body instanceof Readable ? body : JSON.stringify(body);

/**
 * Sends one request and reads the whole answer; `parse` makes the result of it. Rejects when no answer comes in time, and with
 * what `parse` throws. Meant for calls that a caller waits for: undici's `request` spends a quarter of such a call on creating a
 * stream and a signal.
 */
export const callJson = <T>(
  dispatcher: Dispatcher,
  { origin, path, method, headers, body, timeoutMs }: JsonCall,
  parse: (answer: JsonAnswer) => T,
): Promise<T> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let late: Error | undefined;
    let status = 0;
    let answered: JsonAnswer["headers"] = {};
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      late = timedOut(timeoutMs);
      controller?.abort(late);
      reject(late);
    }, timeoutMs);
    const options = { origin, path, method, headers, ...(body && { body: written(body) }) };
    // By default undici closes the connection after a DELETE with a body, because not every server reads it. Agents do.
    dispatcher.dispatch(
      { ...options, reset: false },
      {
        onRequestStart(begun) {
          controller = begun;
          if (late) begun.abort(late);
        },
        onResponseStart(_controller, statusCode, answerHeaders) {
          status = statusCode;
          answered = answerHeaders;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          clearTimeout(timer);
          try {
            resolve(parse({ status, headers: answered, body: Buffer.concat(chunks) }));
          } catch (error) {
            reject(error);
          }
        },
        onResponseError(_controller, error) {
          clearTimeout(timer);
          reject(error);
        },
      },
    );
  });

import type { Dispatcher } from "undici";

export type JsonCall = {
  /** `http://host:port` */
  origin: string;
  path: string;
  method: "GET" | "PUT" | "DELETE";
  headers: Record<string, string>;
  body?: object;
  /** For the whole call, ms. */
  timeoutMs: number;
};

const timedOut = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs} ms`), { name: "TimeoutError" });

/**
 * Sends one request and reads the answer whole, as JSON. Rejects when there is no answer in time or it is no JSON. For calls
 * on the way of a request: undici's `request` spends a quarter of such a call on a stream and a signal for it.
 */
export const callJson = (
  dispatcher: Dispatcher,
  { origin, path, method, headers, body, timeoutMs }: JsonCall,
): Promise<{ status: number; answer: unknown }> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let late: Error | undefined;
    let status = 0;
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      late = timedOut(timeoutMs);
      controller?.abort(late);
      reject(late);
    }, timeoutMs);
    const options = { origin, path, method, headers, ...(body && { body: JSON.stringify(body) }) };
    // undici closes a connection after a DELETE with a body, which not every server reads; agents do.
    dispatcher.dispatch(
      { ...options, reset: false },
      {
        onRequestStart(begun) {
          controller = begun;
          if (late) begun.abort(late);
        },
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          clearTimeout(timer);
          try {
            resolve({ status, answer: JSON.parse(Buffer.concat(chunks).toString()) });
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

import type { Readable } from "node:stream";
import { AppError, unavailable } from "../base/errors.ts";

/** Only name, code and message: S3's errors carry what was signed, and the whole answer. */
const describe = (error: unknown): Error | undefined => {
  if (!(error instanceof Error)) return undefined;
  const code = (error as NodeJS.ErrnoException).code;
  return new Error([error.name, code, error.message].filter(Boolean).join(": "));
};

/** What a call throws for an error of the store: the reason of an aborted signal, else `unavailable`. */
export const storeError = (error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  return error instanceof AppError ? error : unavailable("the blob store", describe(error));
};

/** Awaits a call of the store. */
export const orStoreError = async <T>(call: Promise<T>, signal: AbortSignal): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw storeError(error, signal);
  }
};

/**
 * The bytes of a blob. The stream is closed when they are read, when the reader stops, and when `signal` is aborted.
 */
export const blobBody = (stream: Readable, signal: AbortSignal): AsyncIterable<Uint8Array> => {
  const close = (): void => void stream.destroy();
  stream.on("error", () => undefined); // the reader gets it; without a listener it would end the process
  stream.once("close", () => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  return (async function* () {
    try {
      signal.throwIfAborted();
      for await (const chunk of stream) {
        yield chunk as Uint8Array;
        signal.throwIfAborted();
      }
    } catch (error) {
      throw storeError(error, signal);
    } finally {
      close();
    }
  })();
};

import { AppError } from "../base/errors.ts";
import type { BlobStore } from "./blob-store.ts";

/** Receives each call of the store that has ended. Of a blob that is read it is the time until its first byte. */
export type BlobMeter = (operation: keyof BlobStore, result: "ok" | "error", seconds: number) => void;

/** Only what the store failed in: not that a caller stopped, nor that there is no store. */
const isFailure = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";

/** The same store; `meter` is told of its calls. */
export const meteredStore = (store: BlobStore, meter: BlobMeter): BlobStore => {
  const metered = async <T>(operation: keyof BlobStore, call: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    const tell = (result: "ok" | "error"): void => meter(operation, result, (performance.now() - startMs) / 1000);
    try {
      const answer = await call();
      tell("ok");
      return answer;
    } catch (error) {
      if (isFailure(error)) tell("error");
      throw error;
    }
  };
  return {
    put: (key, body, options) => metered("put", () => store.put(key, body, options)),
    get: (key, options) => metered("get", () => store.get(key, options)),
    delete: (key, options) => metered("delete", () => store.delete(key, options)),
    list: (folder, options) => store.list(folder, options),
    check: (options) => metered("check", () => store.check(options)),
  };
};

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import type { FileAnswer } from "./route.ts";

/** The part of a file that a request asks for: from the byte `start` up to `end`, which is not part of it. */
type ByteRange = { start: number; end: number };

/**
 * The range of a `Range` header within so many bytes; undefined for none, for several, and for one outside of the file:
 * a server may ignore the header, and answers with the whole file then.
 */
export const byteRange = (header: string | undefined, bytes: number): ByteRange | undefined => {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const range =
    first === ""
      ? { start: Math.max(0, bytes - Number(last)), end: bytes }
      : { start: Number(first), end: last === "" ? bytes : Math.min(bytes, Number(last) + 1) };
  return range.start < range.end ? range : undefined;
};

/** Listeners for one event that a pipeline adds. */
const pipelineListeners = 5;

/** Names that need no quoting in a header; any other character becomes an underscore. */
const plainName = (name: string): string => name.replace(/[^\w.-]/g, "_");

/** What is said of a file before its bytes. */
export const fileHeaders = ({
  type,
  name,
  bytes,
  isShown = false,
}: Omit<FileAnswer, "body">): Record<string, string> => ({
  "Content-Type": type,
  "Content-Disposition": `${isShown ? "inline" : "attachment"}; filename="${plainName(name)}"`,
  "X-Content-Type-Options": "nosniff",
  ...(bytes !== undefined && { "Content-Length": String(bytes) }),
});

/**
 * Sends a file, as an attachment unless it says otherwise, so that no browser shows what users have uploaded as a page
 * of this service. It is read as fast as the caller takes it, and no further when the caller has hung up. Throws the
 * error of the body; then the connection is closed.
 */
export const sendFile = async (response: Response, { body, ...about }: FileAnswer): Promise<void> => {
  response.set(fileHeaders(about));
  // Node warns of more than 10 listeners; the pipeline adds some to the request's own listeners.
  response.setMaxListeners(20);
  let failed: { error: unknown } | undefined;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      if (!response.destroyed) failed = { error };
      throw error;
    }
  };
  // The server has its own listeners on a response; the listeners of a pipeline come on top, and are no leak.
  response.setMaxListeners(response.getMaxListeners() + pipelineListeners);
  try {
    await pipeline(Readable.from(watched(), { objectMode: false }), response);
  } catch {
    // Without an error of the body it was the caller who hung up.
    if (failed) throw failed.error;
  }
};

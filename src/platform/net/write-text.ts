import { once } from "node:events";
import type { Writable } from "node:stream";

/** The reader took nothing for too long. */
export class ReaderStalled extends Error {
  override name = "ReaderStalled";
}

/**
 * Writes text that comes bit by bit, and asks for no more than the reader takes: what waits in memory is one item and
 * the stream's own buffer. Throws a `ReaderStalled` when nothing was taken for `stalledMs`, the reason of `signal`, or
 * what the source throws. The stream stays open.
 */
export const writeText = async (
  stream: Writable,
  texts: AsyncIterable<string>,
  { stalledMs, signal }: { stalledMs: number; signal: AbortSignal },
): Promise<void> => {
  for await (const text of texts) {
    if (stream.write(text)) continue;
    const late = AbortSignal.timeout(stalledMs);
    try {
      await once(stream, "drain", { signal: AbortSignal.any([signal, late]) });
    } catch (cause) {
      signal.throwIfAborted();
      throw late.aborted ? new ReaderStalled(`the reader took nothing for ${stalledMs / 1000} s`, { cause }) : cause;
    }
  }
};

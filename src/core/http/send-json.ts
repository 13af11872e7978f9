/**
 * Sends a JSON answer. A caller that does not read it keeps its bytes in memory, so they count for its key and project
 * (LIMIT-35), are handed to the socket as it takes them, and a caller that takes nothing for half a minute is cut.
 */
import type { Response } from "express";
import { ReaderStalled, writeText } from "../../platform/net/write-text.ts";

/** How long a caller may take nothing of an answer, ms. */
const stalledMs = 30_000;

/** Characters that are handed to the socket at once. */
const pieceLength = 64 * 1024;

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

const piecesOf = async function* (text: string): AsyncGenerator<string> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + pieceLength;
    // Half a pair would be sent as another character.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(at, end);
  }
};

type SendJsonDeps = {
  signal: AbortSignal;
  /** Counts so many bytes until the caller has them or is gone. Throws when they are too many. */
  enter(bytes: number): () => void;
  /** Left out: half a minute. */
  patienceMs?: number;
};

/** Throws what `enter` throws; then nothing is sent. */
export const sendJson = async (
  response: Response,
  body: unknown,
  { signal, enter, patienceMs = stalledMs }: SendJsonDeps,
): Promise<void> => {
  const text = JSON.stringify(body);
  const bytes = Buffer.byteLength(text);
  response.once("close", enter(bytes));
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  if (text.length <= pieceLength) return void response.end(text);
  response.setHeader("Content-Length", bytes);
  try {
    await writeText(response, piecesOf(text), { stalledMs: patienceMs, signal });
    endSoon(response, patienceMs);
  } catch (error) {
    response.destroy();
    if (!(error instanceof ReaderStalled) && !signal.aborted) throw error;
  }
};

/** Ends the answer; a caller that does not take its last bytes is cut. */
const endSoon = (response: Response, withinMs: number): void => {
  const cut = setTimeout(() => response.destroy(), withinMs);
  response.once("close", () => clearTimeout(cut));
  response.end();
};

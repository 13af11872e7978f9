/** The last output of a process, for those who read it while it runs or after. */
import { awaitWith } from "../../../platform/base/retry.ts";
import type { ProcessOutput } from "./api.ts";

/** What is kept, bytes. */
const mostBytes = 256 * 1024;

/** Longest piece that a reader gets, bytes. */
const pieceBytes = 16 * 1024;

/** What a piece costs besides its bytes: a process may write one by one. */
const pieceCost = 150;

export type OutputStream = "stdout" | "stderr";

type Piece = { stream: OutputStream; bytes: Buffer };

export type OutputRing = {
  push(stream: OutputStream, bytes: Buffer): void;
  /** Its process has ended. */
  end(exitCode: number): void;
  /** Nobody reads any more. */
  close(): void;
  /** What is kept, and what comes until the end. Who reads too slowly is told how much was lost. */
  read(signal: AbortSignal): AsyncGenerator<ProcessOutput>;
};

/** An empty one. */
export const createOutputRing = (): OutputRing => {
  const pieces: Piece[] = [];
  /** The number of the oldest piece that is kept, and the bytes before it; the first piece ever is 0. */
  let [first, lostBefore, kept] = [0, 0, 0];
  let exitCode: number | undefined;
  let isClosed = false;
  let changed: PromiseWithResolvers<void> | undefined;
  const wake = (): void => {
    changed?.resolve();
    changed = undefined;
  };
  const add = (piece: Piece): void => {
    pieces.push(piece);
    kept += piece.bytes.length + pieceCost;
    while (kept > mostBytes) {
      const length = pieces.shift()?.bytes.length ?? 0;
      kept -= length + pieceCost;
      lostBefore += length;
      first += 1;
    }
  };
  return {
    push(stream, bytes) {
      for (let at = 0; at < bytes.length; at += pieceBytes)
        // A copy: a part of what was read keeps all of it in memory.
        add({ stream, bytes: Buffer.from(bytes.subarray(at, at + pieceBytes)) });
      wake();
    },
    end(code) {
      exitCode = code;
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
    async *read(signal) {
      let [next, read] = [0, 0];
      while (!isClosed) {
        const lost = lostBefore - read;
        const isBehind = next < first;
        if (isBehind) [next, read] = [first, lostBefore];
        const piece = pieces[next - first];
        if (piece) {
          next += 1;
          read += piece.bytes.length;
          const { stream, bytes } = piece;
          yield { stream, data_b64: bytes.toString("base64"), ...(isBehind && { lost_bytes: lost }) };
        } else if (exitCode !== undefined) {
          yield { event: "exit", exit_code: exitCode };
          return;
        } else {
          changed ??= Promise.withResolvers();
          await awaitWith(changed.promise, signal);
        }
      }
    },
  };
};

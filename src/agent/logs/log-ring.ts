import { awaitWith } from "../../await-with.ts";
import { type LogLine, maxLogChars } from "../../protocol/agent-logs.ts";

/** What a ring keeps at most, bytes: of text, at two bytes a character, with what a line costs besides. */
const maxBytes = 512 * 1024;
const lineBytes = 150;

/** The last lines of a log. */
export type LogRing = {
  /** Adds a line; the oldest ones leave when there is no room. What is too long is cut. */
  push(message: string, timestamp?: string): void;
  /** There will be no further line. Who reads gets what is kept. */
  close(): void;
  /** What is kept, then, with `follow`, what comes until the ring is closed. Who reads too slowly is told how much was lost. */
  read(options: { follow: boolean }, signal: AbortSignal): AsyncGenerator<LogLine>;
};

const now = (): string => new Date().toISOString();

/** Control characters could move the cursor of the terminal that shows them. */
const cleaned = (text: string): string =>
  // The copy: a part of a text that was read keeps all of it in memory.
  Buffer.from(text.slice(0, maxLogChars).replaceAll(/\p{Cc}/gu, " ")).toString();

const sizeOf = ({ message }: LogLine): number => message.length * 2 + lineBytes;

/** An empty ring. */
export const createLogRing = (): LogRing => {
  const lines: LogLine[] = [];
  /** The number of the oldest line that is kept; the first ever is 0. */
  let first = 0;
  let bytes = 0;
  let isClosed = false;
  let changed: PromiseWithResolvers<void> | undefined;
  const wake = (): void => {
    changed?.resolve();
    changed = undefined;
  };
  return {
    push(message, timestamp = now()) {
      if (isClosed) return;
      const line = { message: cleaned(message), timestamp };
      lines.push(line);
      bytes += sizeOf(line);
      for (; bytes > maxBytes; first++) {
        const left = lines.shift();
        if (left) bytes -= sizeOf(left);
      }
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
    async *read({ follow }, signal) {
      const end = first + lines.length;
      for (let next = first; follow || next < end; ) {
        if (next < first) {
          yield { message: `… ${first - next} lines were lost: their reader was too slow`, timestamp: now() };
          next = first;
        }
        const line = lines[next - first];
        if (line) {
          yield line;
          next += 1;
        } else if (isClosed) return;
        else {
          changed ??= Promise.withResolvers();
          await awaitWith(changed.promise, signal);
        }
      }
    },
  };
};

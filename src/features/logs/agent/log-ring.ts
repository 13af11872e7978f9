import { awaitWith } from "../../../platform/base/retry.ts";
import { type LogLine, maxLogChars } from "./api.ts";

/** What a ring keeps at most, bytes: of text, at two bytes a character, with what a line costs besides. */
const maxBytes = 512 * 1024;
const lineBytes = 150;

/** How a reader sees a line that was added at this time, ms since 1970; undefined: not at all. */
type LineOf = (text: string, atMs: number) => LogLine | undefined;

/** The last lines of a log. They are kept as they came: most logs are read by nobody. */
export type LogRing = {
  /** Adds a line; the oldest ones leave when there is no room. */
  push(text: string): void;
  /** There will be no further line. Who reads gets what is kept. */
  close(): void;
  /**
   * What is kept, then, with `follow`, what comes until the ring is closed. Who reads too slowly is told how much was
   * lost.
   */
  read(options: { follow: boolean }, signal: AbortSignal): AsyncGenerator<LogLine>;
};

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Control characters could move the cursor of the terminal that shows them. */
const cleaned = (text: string): string => text.slice(0, maxLogChars).replaceAll(/\p{Cc}/gu, " ");

/** The start of a text, as a copy: a part of a text that was read keeps all of it in memory. */
const startOf = (text: string, chars: number): string =>
  text.length > chars ? Buffer.from(text.slice(0, chars)).toString() : text;

type Kept = { text: string; atMs: number };

const sizeOf = ({ text }: Kept): number => text.length * 2 + lineBytes;

const asItCame: LineOf = (message, atMs) => ({ message, timestamp: timeOf(atMs) });

/** An empty ring. `maxChars`: longer lines are cut when they come. A reader gets `maxLogChars` of each. */
export const createLogRing = ({
  lineOf = asItCame,
  maxChars = maxLogChars,
}: {
  lineOf?: LineOf;
  maxChars?: number;
} = {}): LogRing => {
  const lines: Kept[] = [];
  /** The number of the oldest line that is kept; the first ever is 0. */
  let first = 0;
  let bytes = 0;
  let isClosed = false;
  let changed: PromiseWithResolvers<void> | undefined;
  const wake = (): void => {
    changed?.resolve();
    changed = undefined;
  };
  const shownOf = ({ text, atMs }: Kept): LogLine[] => {
    const shown = lineOf(text, atMs);
    return shown ? [{ ...shown, message: cleaned(shown.message) }] : [];
  };
  return {
    push(text) {
      if (isClosed) return;
      const line = { text: startOf(text, maxChars), atMs: Date.now() };
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
          yield {
            message: `… ${first - next} lines were lost: their reader was too slow`,
            timestamp: timeOf(Date.now()),
          };
          next = first;
        }
        const line = lines[next - first];
        if (line) {
          yield* shownOf(line);
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

import { once } from "node:events";
import { openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino, stdSerializers } from "pino";

export type { Logger } from "pino";

/**
 * Keys whose values are never logged, down to so many objects or lists inside of each other; nothing that is logged has
 * more.
 */
const secretKeys = ["authorization", "jwt", "token", "key", "password", "api_key", "apiKey", "cdp_ws_url", "url"];
const deepest = 6;

const isSecret = new Set(secretKeys);

/**
 * A copy in which no secret key has its value. Written here because pino's own redaction looks for each of 70 paths in
 * each field of each line. What writes itself (a date, a `Sensitive`) stays as it is.
 */
const withoutSecrets = (value: unknown, depth = 0): unknown => {
  if (typeof value !== "object" || value === null || depth > deepest || "toJSON" in value) return value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value))
    copy[key] = isSecret.has(key) ? "[redacted]" : withoutSecrets(item, depth + 1);
  return copy;
};

/** An error is written by its serializer. */
const shownFields = ({ err, ...fields }: Record<string, unknown>): Record<string, unknown> => ({
  ...(withoutSecrets(fields) as Record<string, unknown>),
  ...(err !== undefined && { err }),
});

/** A stream that also shows its lines to `onLine`. */
const shownTo = (onLine: (json: string) => void, stream: { write(text: string): unknown }) => ({
  write(text: string): void {
    stream.write(text);
    onLine(text);
  },
});

/**
 * A JSON logger. `level`: a pino level name; `service`: the command that logs, e.g. `api`; `file`: by default stderr.
 * `onLine`: also gets each line.
 */
export const createLogger = (
  level: string,
  service: string,
  file?: string,
  onLine?: (json: string) => void,
): Logger => {
  const stream = pino.destination({ dest: file ?? 2, sync: true, mode: 0o600 });
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: shownFields },
      serializers: { err: (error: unknown) => withoutSecrets(stdSerializers.err(error as Error), 1) },
    },
    onLine ? shownTo(onLine, stream) : stream,
  );
};

/**
 * Lines that may wait to be written, bytes. When the reader of the stream stands still for longer, further lines are
 * lost.
 */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * How long lines are collected, ms, or until they are so many characters: each write is a job for another thread, which
 * costs more than the line itself.
 */
const collectMs = 20;
const collectLength = 64 * 1024;

/** Longest wait for the last lines, ms: the reader of a pipe may stand still. */
const lastLinesMs = 1000;

type LineSink = {
  /** Takes one line without its end. Never waits. */
  write(line: string): void;
  /** Writes the lines that wait, for a second at most. */
  close(): Promise<void>;
};

/**
 * A stream of lines that is written in the background, so that no caller waits for the disk or the reader of a pipe.
 * `to`: `stdout`, or a file, to which it appends. Throws when the file can't be opened. `onDrop`: told of each line
 * that is lost.
 */
export const createLineSink = (to: string, onDrop: () => void): LineSink => {
  const dest = to === "stdout" ? 1 : openSync(to, "a", 0o600);
  const stream = pino.destination({ dest, sync: false, maxLength: maxWaitingBytes });
  stream.on("drop", (text: string) => {
    for (const _line of text.matchAll(/\n/g)) onDrop();
  });
  // Without a listener an error, such as a full disk, would end the process.
  stream.on("error", onDrop);
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const pass = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== "") stream.write(waiting);
    waiting = "";
  };
  return {
    write(line) {
      waiting += `${line}\n`;
      if (waiting.length >= collectLength) pass();
      else timer ??= setTimeout(pass, collectMs);
    },
    async close() {
      pass();
      const flushed = Promise.withResolvers<void>();
      stream.flush(() => flushed.resolve());
      await Promise.race([flushed.promise, sleep(lastLinesMs, undefined, { ref: false })]);
      if (to === "stdout") return;
      const closed = once(stream, "close");
      stream.end();
      await Promise.race([closed, sleep(lastLinesMs, undefined, { ref: false })]);
    },
  };
};

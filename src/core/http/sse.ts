/**
 * An answer of server-sent events, as browsers' EventSource and the SDK read them:
 *
 *   id: 17                  how far a reader is, where events have ids
 *   data: {…}               one event
 *   : alive                 after 15 s without one, so that nothing on the way takes the connection for dead
 *   event: error            the last one of a stream that ends before its time, with a code and a message, as in any error
 *
 * The source is asked for its next event when the reader has taken the last one. A reader that takes nothing for 30 s
 * is cut: until then it costs one event, or those that are sent together, and the socket's buffer.
 */
import type { ServerResponse } from "node:http";
import { AppError } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import { pause, withPauses } from "../../platform/net/with-pauses.ts";
import { ReaderStalled, writeText } from "../../platform/net/write-text.ts";
import { asAppError, errorBody } from "./middleware/error-answer.ts";
import type { ServerEvent, ServerEvents } from "./route.ts";

/** `lastEventMs`: how long the last event waits for its reader. */
const usualTimes = { aliveMs: 15_000, stalledMs: 30_000, lastEventMs: 5000 };

export type EventsDeps = {
  /** Ends the stream with its reason. */
  signal: AbortSignal;
  /** Throws when the reader's key may not read on; asked about every 15 s. */
  requireAllowed(): void;
  log: Logger;
  /** Left out: those above. */
  times?: typeof usualTimes;
};

/**
 * What is said of a stream before its events. Proxies of the nginx kind would keep events back to send many at once.
 */
export const eventHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

const frame = ({ id, ...event }: ServerEvent): string =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${"json" in event ? event.json : JSON.stringify(event.data)}\n\n`;

/** The SDK knows events by their data alone, so that names the error too. */
const errorFrame = (error: AppError): string => {
  const { code, message } = errorBody(error);
  const data = { event: "error", error: { code, message }, timestamp: new Date().toISOString() };
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`;
};

const framesOf = async function* (
  events: ServerEvents,
  { signal, requireAllowed, times: { aliveMs } = usualTimes }: EventsDeps,
): AsyncGenerator<string> {
  let askedMs = performance.now();
  for await (const event of withPauses(events, aliveMs, signal)) {
    if (performance.now() - askedMs >= aliveMs) {
      requireAllowed();
      askedMs = performance.now();
    }
    yield event === pause ? ": alive\n\n" : [event].flat().map(frame).join("");
  }
};

/** Ends the answer; a reader that does not take its last bytes is cut. */
const endSoon = (response: ServerResponse, { withinMs, text = "" }: { withinMs: number; text?: string }): void => {
  const cut = setTimeout(() => response.destroy(), withinMs);
  response.once("close", () => clearTimeout(cut));
  response.end(text);
};

/**
 * Sends events until there are no more, the reader is gone or may not read on, or `signal` is aborted. Never throws.
 */
export const sendEvents = async (response: ServerResponse, events: ServerEvents, deps: EventsDeps): Promise<void> => {
  const { signal, log, times: { stalledMs, lastEventMs: withinMs } = usualTimes } = deps;
  for (const [name, value] of Object.entries(eventHeaders)) response.setHeader(name, value);
  response.flushHeaders();
  try {
    await writeText(response, framesOf(events, deps), { stalledMs, signal });
    endSoon(response, { withinMs });
  } catch (error) {
    if (response.closed) return;
    const told =
      error instanceof ReaderStalled ? new AppError("request_timeout", error.message) : asAppError(error, log);
    endSoon(response, { withinMs, text: errorFrame(told) });
  }
};

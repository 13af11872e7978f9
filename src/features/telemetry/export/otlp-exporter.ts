/**
 * Sends events to one telemetry destination, as logs of OTLP over HTTP (ADR 0043). It sends each batch once: when to
 * try again is the caller's to decide (export-queue.ts).
 *
 *   2xx                        the receiver has the batch, but for what partial_success rejects
 *   413, or no serialization   the halves, one after the other; a single record is rejected
 *   429, 502, 503, 504         again, after Retry-After
 *   no or a broken answer      again; the receiver may have the batch, and gets it twice then
 *   anything else, 3xx too     rejected for good
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { type Dispatcher, Pool } from "undici";
import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { endpointTarget, logsUrl } from "../destinations/rules/destination-problems.ts";
import type { TelemetryRecord } from "../telemetry-event.ts";
import { type ExportedSession, logRecordsOf } from "./log-records.ts";
import { type ConnectDeps, pinnedConnector, Refused } from "./pinned-connector.ts";

/** Longest pause that a receiver may ask for, ms: beyond it, a new try tells more. */
const maxPauseMs = 5 * 60_000;

/** The pause that a `Retry-After` asks for, in seconds or by a date; 0 when it is none. `nowMs`: since the epoch. */
export const retryAfterMs = (text: string | undefined, nowMs: number): number => {
  if (text === undefined) return 0;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return ms > 0 ? Math.min(ms, maxPauseMs) : 0;
};

/** Where and how. `headers`: by name. */
export type ExportDestination = {
  endpoint: string;
  headers: Readonly<Record<string, Sensitive>>;
  compression: "gzip" | "none";
  timeoutMs: number;
};

/**
 * What came of a batch. `retryAfterMs`: of the receiver, 0 when it names none; `rejected`: records that are lost for
 * good. `reason`: one word for metrics and users, nothing that the receiver has sent; `message`: what it said, for logs
 * at most.
 */
export type ExportOutcome =
  | "sent"
  | { retryAfterMs: number; reason: string }
  | { rejected: number; reason: string; message: string };

export type OtlpExporter = {
  /** Sends the records in one request. Rejects only with the reason of `signal`. */
  export(session: ExportedSession, records: readonly TelemetryRecord[], signal: AbortSignal): Promise<ExportOutcome>;
  /** Takes no further batch, and closes the connections when those that it has are done. */
  retire(): Promise<void>;
  /** Closes the connections, also of a request that is running. */
  close(): Promise<void>;
};

/** Requests at the same time. */
const connections = 4;

/** Most bytes of an answer that are read, and of its head. */
const maxAnswerBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;

/** Longest message of a receiver that is kept, characters. */
const maxMessage = 256;

const compress = promisify(gzip);

const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type Answer = { status: number; retryAfter: string | undefined; isProtobuf: boolean; body: Buffer };

/** What a receiver writes may go to a log: no line breaks, no controls, and not much of it. */
const plain = (text: string): string => text.slice(0, maxMessage).replace(/[^ -~]/g, "?");

/** The beginning of the body; a receiver that goes on, or stops in the middle, is cut off. */
const beginning = async (body: Dispatcher.ResponseData["body"]): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxAnswerBytes) break;
    }
  } catch {
    // The status has said what became of the batch.
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes);
};

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

type PartialSuccess = { rejected: number; message: string };

/** A receiver that answers 2xx has the batch, whatever its body is. */
const partialSuccess = ({ body, isProtobuf }: Answer): PartialSuccess => {
  try {
    const { partialSuccess: part } = isProtobuf
      ? ProtobufLogsSerializer.deserializeResponse(body)
      : { partialSuccess: undefined };
    return { rejected: Number(part?.rejectedLogRecords ?? 0), message: part?.errorMessage ?? "" };
  } catch {
    return { rejected: 0, message: "" };
  }
};

const outcomeOf = (answer: Answer, count: number, nowMs: number): ExportOutcome => {
  const { status } = answer;
  const reason = `http_${status}`;
  if (status >= 200 && status <= 299) {
    const { rejected, message } = partialSuccess(answer);
    if (!(rejected > 0)) return "sent";
    return { rejected: Math.min(rejected, count), reason: "partial_success", message: plain(message) };
  }
  if (retryable.has(status)) return { retryAfterMs: retryAfterMs(answer.retryAfter, nowMs), reason };
  return { rejected: count, reason, message: plain(answer.body.toString("latin1")) };
};

/** Reasons for which fewer records may be taken. */
const tooMuch = { tooLarge: "http_413", unserializable: "unserializable" } as const;

const isTooMuch = (outcome: ExportOutcome): boolean =>
  outcome !== "sent" && Object.values<string>(tooMuch).includes(outcome.reason);

const both = (first: ExportOutcome, second: ExportOutcome): ExportOutcome => {
  if (second === "sent" || first === "sent") return second === "sent" ? first : second;
  if ("retryAfterMs" in second) return second;
  return "retryAfterMs" in first ? first : { ...second, rejected: first.rejected + second.rejected };
};

/** `ConnectDeps`: which places it may connect to, and how names are resolved. Throws for an endpoint that is no URL. */
export const createOtlpExporter = (
  { endpoint, headers, compression, timeoutMs }: ExportDestination,
  deps: ConnectDeps & { now: () => number },
): OtlpExporter => {
  const target = endpointTarget(endpoint);
  if (!target) throw new Error("the endpoint is no URL");
  const url = new URL(logsUrl(endpoint));
  const pool = new Pool(url.origin, {
    connect: pinnedConnector(target, url.protocol === "https:", deps),
    connections,
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    // The signal of each request bounds all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const request = async (body: Uint8Array, signal: AbortSignal): Promise<Answer> => {
    const sent = compression === "gzip" ? await compress(body) : body;
    const response = await pool.request({
      method: "POST",
      path: url.pathname,
      headers: {
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
        "content-type": "application/x-protobuf",
        ...(compression === "gzip" && { "content-encoding": "gzip" }),
        "user-agent": "browserpool",
      },
      body: sent,
      signal,
    });
    const type = textOf(response.headers["content-type"]) ?? "";
    return {
      status: response.statusCode,
      retryAfter: textOf(response.headers["retry-after"]),
      isProtobuf: type.startsWith("application/x-protobuf"),
      body: await beginning(response.body),
    };
  };

  /** Undefined for what can't be serialized, such as data that is nested too deep. */
  const serialize = (session: ExportedSession, records: readonly TelemetryRecord[]): Uint8Array | undefined => {
    try {
      return ProtobufLogsSerializer.serializeRequest(logRecordsOf(session, records, deps.now()));
    } catch {
      return undefined;
    }
  };

  const sendOnce: OtlpExporter["export"] = async (session, records, signal) => {
    const body = serialize(session, records);
    if (!body) return { rejected: records.length, reason: tooMuch.unserializable, message: "" };
    try {
      const answer = await request(body, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      return outcomeOf(answer, records.length, deps.now());
    } catch (error) {
      signal.throwIfAborted();
      // No text of the error: it can name addresses.
      if (error instanceof Refused) return { retryAfterMs: 0, reason: "address_refused" };
      return { retryAfterMs: 0, reason: (error as Error).name === "TimeoutError" ? "timeout" : "no_connection" };
    }
  };

  const send: OtlpExporter["export"] = async (session, records, signal) => {
    const whole = await sendOnce(session, records, signal);
    if (records.length < 2 || !isTooMuch(whole)) return whole;
    const middle = Math.ceil(records.length / 2);
    const first = await send(session, records.slice(0, middle), signal);
    // What comes after a failure must not come before its repetition.
    if (first !== "sent" && "retryAfterMs" in first) return first;
    return both(first, await send(session, records.slice(middle), signal));
  };

  return {
    async export(session, records, signal) {
      signal.throwIfAborted();
      return records.length === 0 ? "sent" : send(session, records, signal);
    },
    retire: () => pool.close(),
    close: () => pool.destroy(),
  };
};

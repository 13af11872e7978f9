/**
 * Sends ended spans by OTLP over HTTP, in batches. A batch is sent once: what the receiver does not take, and what comes
 * while the queue is full, is dropped and counted. Nobody waits for it.
 */
import type { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Sensitive } from "../base/sensitive.ts";
import type { EndedSpan } from "./tracer.ts";

type OtlpSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];
type TraceState = NonNullable<ReturnType<OtlpSpan["spanContext"]>["traceState"]>;

/** Where spans go. `endpoint`: the whole URL. `headers`: by name. */
export type SpanDestination = { endpoint: string; headers: Readonly<Record<string, Sensitive>>; serviceName: string };

/** Why spans are lost: the queue was full, or a batch was refused or got no answer. */
export type SpanLoss = "queue_full" | "refused" | "no_answer";

type ExporterOptions = { onDropped(count: number, reason: SpanLoss): void };

const most = { queue: 2048, batch: 512 };

/** Time between two batches, and for one, ms. */
const everyMs = 2000;
const timeoutMs = 5000;

/** How long a process that stops waits for its last spans, ms. */
const stopMs = 3000;

const kinds = { internal: 0, server: 1, client: 2 } as const;

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

/** Of a trace's state nothing is asked but its text. */
const stateOf = (state: string): TraceState => ({
  serialize: () => state,
  get: () => undefined,
  set: () => stateOf(state),
  unset: () => stateOf(state),
});

const contextOf = ({ traceId, spanId, sampled, state }: EndedSpan["context"]) => ({
  traceId,
  spanId,
  traceFlags: Number(sampled),
  ...(state !== undefined && { traceState: stateOf(state) }),
});

/** As OpenTelemetry's serializer takes a span, which reads no more of its own type than this. */
const otlpSpan = (span: EndedSpan, resource: OtlpSpan["resource"]): OtlpSpan => ({
  name: span.name,
  kind: kinds[span.kind],
  spanContext: () => contextOf(span.context),
  ...(span.parentSpanId !== undefined && {
    parentSpanContext: contextOf({ ...span.context, spanId: span.parentSpanId }),
  }),
  startTime: hrTime(span.startMs),
  endTime: hrTime(span.endMs),
  duration: hrTime(span.endMs - span.startMs),
  ended: true,
  status: { code: span.failed ? 2 : 0 },
  attributes: span.attributes,
  links: span.link ? [{ context: contextOf(span.link) }] : [],
  events: [],
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
  resource,
  instrumentationScope: { name: "browserpool" },
});

const resourceOf = (serviceName: string): OtlpSpan["resource"] => {
  const attributes = { "service.name": serviceName };
  const resource: OtlpSpan["resource"] = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
};

type SpanExporter = {
  add(span: EndedSpan): void;
  /** Sends what waits, for some seconds at most. Nothing may be added any more. */
  stop(): Promise<void>;
};

/** Starts to send. */
export const startSpanExporter = async (
  { endpoint, headers, serviceName }: SpanDestination,
  { onDropped }: ExporterOptions,
): Promise<SpanExporter> => {
  // Loaded only where it is used: it costs each process memory and time to start.
  const { ProtobufTraceSerializer: serializer } = await import("@opentelemetry/otlp-transformer");
  const resource = resourceOf(serviceName);
  const queue: EndedSpan[] = [];
  const stopping = new AbortController();

  const send = async (spans: EndedSpan[]): Promise<void> => {
    const body = serializer.serializeRequest(spans.map((span) => otlpSpan(span, resource)));
    const shown = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { ...Object.fromEntries(shown), "content-type": "application/x-protobuf" },
        body: body as Uint8Array<ArrayBuffer>,
        redirect: "error",
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      if (!response.ok) onDropped(spans.length, "refused");
    } catch {
      // No text of the error: it can name addresses.
      onDropped(spans.length, "no_answer");
    }
  };

  let sending: Promise<void> = Promise.resolve();
  let isSending = false;
  const flush = (): Promise<void> => {
    if (isSending || queue.length === 0) return sending;
    isSending = true;
    sending = send(queue.splice(0, most.batch)).finally(() => {
      isSending = false;
    });
    return sending;
  };
  const timer = setInterval(flush, everyMs);
  return {
    add(span) {
      if (queue.length >= most.queue) return onDropped(1, "queue_full");
      queue.push(span);
      if (queue.length >= most.batch) void flush();
    },
    async stop() {
      clearInterval(timer);
      const deadline = setTimeout(() => stopping.abort(), stopMs);
      await sending;
      while (queue.length > 0) await flush();
      clearTimeout(deadline);
    },
  };
};

/** Spans of OpenTelemetry: what a request has done, and how long each step took. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { placeParts, type ToldPart } from "./told-parts.ts";
import type { TraceContext } from "./trace-context.ts";

type Attributes = Record<string, string | number | boolean>;

/** A span that has ended. Times: ms since 1970. */
export type EndedSpan = {
  name: string;
  kind: "internal" | "server" | "client";
  context: TraceContext;
  parentSpanId: string | undefined;
  startMs: number;
  endMs: number;
  attributes: Attributes;
  failed: boolean;
  /** Another span that led to this one. */
  link: TraceContext | undefined;
};

type Begin = Pick<EndedSpan, "name" | "kind"> & {
  parent: TraceContext | undefined;
  link?: TraceContext | undefined;
  attributes?: Attributes;
};

/** A span that runs. */
type Span = {
  context: TraceContext;
  /** What another process says of the work: its parts, as spans below this one, and whether it failed. */
  tell(told: { parts?: readonly ToldPart[]; failed?: boolean }): void;
  /** To be called once. `name`: in the place of the one that it began with. Attributes must be no secrets. */
  end(how?: { name?: string; attributes?: Attributes; failed?: boolean }): void;
};

/** A span that is over, in a trace of its own. `parts`: spans below it. */
type Over = Pick<EndedSpan, "name" | "startMs" | "endMs" | "attributes" | "link"> & {
  parts: readonly Pick<EndedSpan, "name" | "startMs" | "endMs">[];
};

export type Tracer = {
  begin(span: Begin): Span;
  /** Records it if the linked trace is recorded; without a link by the share. */
  addOver(span: Over): void;
  /** The span that this work belongs to. */
  current(): TraceContext | undefined;
  /** Lets `work`, and what it starts, belong to the span. */
  within<T>(span: Span, work: () => T): T;
};

const newId = (bytes: number): string => randomBytes(bytes).toString("hex");

/** A span below another one, which is known when it is over. */
const below = (parent: TraceContext, part: Pick<EndedSpan, "name" | "startMs" | "endMs">): EndedSpan => ({
  ...part,
  kind: "internal",
  context: { ...parent, spanId: newId(8) },
  parentSpanId: parent.spanId,
  attributes: {},
  failed: false,
  link: undefined,
});

type TracerOptions = {
  /** The share of traces that begin here and are recorded; a caller's own decision wins. */
  ratio: number;
  /** Takes a recorded span; must not wait. */
  onEnd(span: EndedSpan): void;
};

/** Starts nothing: spans go to `onEnd` as they end. */
export const createTracer = ({ ratio, onEnd }: TracerOptions): Tracer => {
  const running = new AsyncLocalStorage<TraceContext>();
  return {
    begin({ name, kind, parent, link, attributes = {} }) {
      const sampled = parent?.sampled ?? Math.random() < ratio;
      const context = {
        traceId: parent?.traceId ?? newId(16),
        spanId: newId(8),
        sampled,
        ...(parent?.state !== undefined && { state: parent.state }),
      };
      const [startMs, beganMs] = [Date.now(), performance.now()];
      let said: Parameters<Span["tell"]>[0] = {};
      return {
        context,
        tell(told) {
          said = told;
        },
        end({ name: last = name, attributes: more = {}, failed = said.failed ?? false } = {}) {
          if (!sampled) return;
          const endMs = startMs + performance.now() - beganMs;
          const times = { startMs, endMs };
          const all = { ...attributes, ...more };
          onEnd({ name: last, kind, context, parentSpanId: parent?.spanId, ...times, attributes: all, failed, link });
          for (const part of placeParts(said.parts ?? [], times)) onEnd(below(context, part));
        },
      };
    },
    addOver({ parts, ...span }) {
      if (!(span.link?.sampled ?? Math.random() < ratio)) return;
      const context = { traceId: newId(16), spanId: newId(8), sampled: true };
      onEnd({ ...span, kind: "internal", context, parentSpanId: undefined, failed: false });
      for (const part of parts) onEnd(below(context, part));
    },
    current: () => running.getStore(),
    within: (span, work) => running.run(span.context, work),
  };
};

type Step = {
  name: string;
  kind?: EndedSpan["kind"];
  attributes?: Attributes;
  /** The trace of what the work is for: the span is linked to it, or in it where the present span is not recorded. */
  origin?: TraceContext | undefined;
};

/** Does `work` in a span, and ends that with it. */
export const inSpan = async <T>(tracer: Tracer, span: Span, work: () => Promise<T>): Promise<T> => {
  try {
    const result = await tracer.within(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({ failed: true });
    throw error;
  }
};

/**
 * Does `work` in a span below the present one. Without a tracer, and where nothing is recorded, it only does the work,
 * which then gets no span.
 */
export const traced = <T>(
  tracer: Tracer | undefined,
  { origin, ...step }: Step,
  work: (span?: Span) => Promise<T>,
): Promise<T> => {
  const present = tracer?.current();
  const parent = present?.sampled ? present : origin;
  if (!tracer || !parent?.sampled) return work();
  const span = tracer.begin({ kind: "internal", ...step, parent, link: parent === origin ? undefined : origin });
  return inSpan(tracer, span, () => work(span));
};

import type { Config } from "../core/config/config.ts";
import { type SpanLoss, startSpanExporter } from "../platform/tracing/span-exporter.ts";
import { createTracer, type Tracer } from "../platform/tracing/tracer.ts";

type TracingParts = {
  config: Pick<Config, "tracing">;
  /** Its name in spans, where the environment gives none. */
  service: string;
  onSpansDropped(count: number, reason: SpanLoss): void;
};

/** Starts to send spans, until `stack` is disposed of; undefined where nobody takes them. */
export const startTracing = async (
  { config: { tracing }, service, onSpansDropped }: TracingParts,
  stack: AsyncDisposableStack,
): Promise<Tracer | undefined> => {
  if (!tracing) return undefined;
  const { serviceName = service, ratio, ...destination } = tracing;
  const exporter = await startSpanExporter({ ...destination, serviceName }, { onDropped: onSpansDropped });
  stack.defer(exporter.stop);
  return createTracer({ ratio, onEnd: exporter.add });
};

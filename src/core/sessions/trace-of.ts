import { traceparentOf } from "../../platform/tracing/trace-context.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";

/** What the request of a session keeps of the trace that it began in, if that is recorded. */
export const traceOf = ({ tracer }: { tracer?: Tracer | undefined }): { trace?: string; trace_state?: string } => {
  const context = tracer?.current();
  if (!context?.sampled) return {};
  return { trace: traceparentOf(context), ...(context.state !== undefined && { trace_state: context.state }) };
};

import { traceparentOf } from "../../platform/tracing/trace-context.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";

/** What the request of a session keeps of the trace that it began in, if that is recorded. */
export const traceOf = ({ tracer }: { tracer?: Tracer | undefined }): { trace?: string } => {
  const context = tracer?.current();
  return context?.sampled ? { trace: traceparentOf(context) } : {};
};

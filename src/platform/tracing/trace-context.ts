/** The place of a span in a trace, by W3C Trace Context: 32 and 16 hex digits. `sampled`: the trace is recorded. */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean };

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

const isZero = (digits: string): boolean => /^0+$/.test(digits);

/** Parses the header `traceparent`; undefined for none and for what the standard tells to ignore. */
export const parseTraceparent = (text: string | undefined): TraceContext | undefined => {
  const [, version = "ff", traceId = "", spanId = "", flags = "", more] = pattern.exec(text ?? "") ?? [];
  if (version === "ff" || isZero(traceId) || isZero(spanId) || (version === "00" && more !== undefined))
    return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

/** The header for whom this span calls, or who is told of it. */
export const traceparentOf = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`;

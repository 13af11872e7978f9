import type { IncomingHttpHeaders } from "node:http";

/**
 * The place of a span in a trace, by W3C Trace Context: 32 and 16 hex digits. `sampled`: the trace is recorded.
 * `state`: the `tracestate` that came with it, which goes on with it.
 */
export type TraceContext = { traceId: string; spanId: string; sampled: boolean; state?: string };

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

const isZero = (digits: string): boolean => /^0+$/.test(digits);

/** Most members and characters of a `tracestate` that are kept, and from which length on a member goes first. */
const most = { members: 32, chars: 512, memberChars: 128 };

const key = /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})$/;
/** Printable ASCII without comma and equals sign; no blank at its end. */
const value = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

const isMember = (member: string): boolean => {
  const end = member.indexOf("=");
  return key.test(member.slice(0, Math.max(0, end))) && value.test(member.slice(end + 1));
};

/** Within the bound of characters, as the standard tells to cut: whole members, long ones first, then from the end. */
const shortened = (members: string[]): string[] => {
  const kept = [...members];
  while (kept.join(",").length > most.chars) {
    const long = kept.findLastIndex((member) => member.length > most.memberChars);
    kept.splice(long, 1);
  }
  return kept;
};

/** Undefined for none, and for a list that is not as the standard has it, which is dropped as a whole. */
const parseTracestate = (text: string): string | undefined => {
  const members = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf("="))));
  if (keys.size < members.length || !members.every(isMember)) return undefined;
  return shortened(members.slice(0, most.members)).join(",") || undefined;
};

/**
 * Parses the headers `traceparent` and `tracestate`; undefined for no traceparent, and for one that the standard tells
 * to ignore. The state is read only where the trace is recorded.
 */
export const parseTraceparent = (text: string | undefined, state?: string): TraceContext | undefined => {
  const [, version = "ff", traceId = "", spanId = "", flags = "", more] = pattern.exec(text ?? "") ?? [];
  if (version === "ff" || isZero(traceId) || isZero(spanId) || (version === "00" && more !== undefined))
    return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  const kept = sampled && state ? parseTracestate(state) : undefined;
  return { traceId, spanId, sampled, ...(kept && { state: kept }) };
};

/** The trace that a request with these headers belongs to. Node makes one text of a header that came more than once. */
export const traceIn = ({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined =>
  traceparent === undefined ? undefined : parseTraceparent(String(traceparent), String(tracestate ?? ""));

/** The header for whom this span calls, or who is told of it. */
export const traceparentOf = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`;

/** Both headers for those who are told of this span. */
export const traceHeaders = (context: TraceContext): Record<string, string> => ({
  traceparent: traceparentOf(context),
  ...(context.state !== undefined && { tracestate: context.state }),
});

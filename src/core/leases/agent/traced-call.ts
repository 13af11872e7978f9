import type { TraceContext } from "../../../platform/tracing/trace-context.ts";
import { type Tracer, traced } from "../../../platform/tracing/tracer.ts";
import type { AgentState } from "../../protocol/agent-api.ts";
import type { LeaseRecord } from "../records.ts";
import type { AgentAnswer } from "./agent-client.ts";

const steps = ["reset", "health_check", "fence"] as const;

const partsOf = ({ timings = {} }: AgentState) =>
  steps.flatMap((step) => {
    const ms = timings[step];
    return ms === undefined ? [] : [{ name: `agent.${step}`, ms }];
  });

const nothingAsked = {};

type CallSpan = {
  name: string;
  lease: Pick<LeaseRecord, "session" | "pod">;
  /** The trace that the session was acquired in; asked where something is traced. */
  origin?: () => TraceContext | undefined;
};

/**
 * Calls a lease's agent in a span. Where that is recorded, `call` asks for the agent's timings, which become spans below
 * it.
 */
export const tracedCall = (
  tracer: Tracer | undefined,
  { name, lease, origin }: CallSpan,
  call: (asked: { timings?: true }) => Promise<AgentAnswer>,
): Promise<AgentAnswer> => {
  if (!tracer) return call(nothingAsked);
  const attributes = { "session.id": lease.session, "browserpool.browser.pod": lease.pod };
  return traced(tracer, { name, kind: "client", attributes, origin: origin?.() }, async (span) => {
    const answer = await call(span ? { timings: true } : nothingAsked);
    span?.tell(answer.kind === "ok" ? { parts: partsOf(answer.state) } : { failed: true });
    return answer;
  });
};

import { expect, test } from "vitest";
import { createTracer, type EndedSpan, type Tracer } from "../../../platform/tracing/tracer.ts";
import { AgentState } from "../../protocol/agent-api.ts";
import { tracedCall } from "./traced-call.ts";

const lease = { session: "s-1", pod: "browser-1" };

/** An answer of an agent, as it is read. */
const answering = (timings: unknown) => ({
  kind: "ok" as const,
  state: AgentState.parse({
    ...{ pod_uid: "uid", fence: { epoch: 1, seq: 1 }, binding: null, resetting: false, lease: null },
    timings,
  }),
});

/** The spans of one call. `within`: whether its request is recorded. */
const spansOf = async (call: Parameters<typeof tracedCall>[2], within = true): Promise<EndedSpan[]> => {
  const spans: EndedSpan[] = [];
  const tracer: Tracer = createTracer({ ratio: Number(within), onEnd: (span) => spans.push(span) });
  const request = tracer.begin({ name: "request", kind: "server", parent: undefined });
  await tracer.within(request, () => tracedCall(tracer, { name: "bind", lease }, call));
  return spans;
};

test("what the agent tells of its steps is below the call, in the order of the steps", async () => {
  const [bind, ...parts] = await spansOf(async () => answering({ fence: 0, health_check: 0, reset: 0 }));
  expect(bind).toMatchObject({ name: "bind", failed: false, attributes: { "session.id": "s-1" } });
  expect(parts.map(({ name }) => name)).toEqual(["agent.reset", "agent.health_check", "agent.fence"]);
  for (const part of parts) expect(part.parentSpanId).toBe(bind?.context.spanId);
});

test("an agent that lies about its times claims no more than its call took", async () => {
  const [bind, ...parts] = await spansOf(async () => answering({ reset: 60_000, health_check: 60_000, fence: 60_000 }));
  expect(parts).toHaveLength(3);
  const { startMs = 0, endMs = 0 } = bind ?? {};
  for (const part of parts) {
    expect(part.startMs).toBeGreaterThanOrEqual(startMs);
    expect(part.endMs).toBeGreaterThanOrEqual(part.startMs);
    expect(part.endMs).toBeLessThanOrEqual(endMs);
  }
});

test.each([
  { timings: { reset: -1 } },
  { timings: { reset: 60_001 } },
  { timings: { health_check: "long" } },
  { timings: { health_check: null } },
  { timings: "soon" },
  { timings: [] },
  { timings: Array.from({ length: 1000 }, () => 1) },
])("times that can't be make no spans, and the answer counts: %j", async ({ timings }) => {
  const spans = await spansOf(async () => answering(timings));
  expect(spans).toMatchObject([{ name: "bind", failed: false }]);
});

test("steps that no agent has make no spans", async () => {
  const told: unknown = JSON.parse('{"fence": 1, "payment.made": 5, "__proto__": {"reset": 5}}');
  const spans = await spansOf(async () => answering(told));
  expect(spans.map(({ name }) => name)).toEqual(["bind", "agent.fence"]);
});

test("a call that is refused or not answered has failed", async () => {
  expect(await spansOf(async () => ({ kind: "refused", code: "stale_fence" }))).toMatchObject([{ failed: true }]);
  expect(await spansOf(async () => ({ kind: "unreachable", reason: "reset" }))).toMatchObject([{ failed: true }]);
});

test("the agent is asked for its times only where the call is recorded", async () => {
  const asked: object[] = [];
  const call: Parameters<typeof tracedCall>[2] = async (options) => {
    asked.push(options);
    return { kind: "refused", code: "stopping" };
  };
  await spansOf(call);
  expect(await spansOf(call, false)).toEqual([]);
  await tracedCall(undefined, { name: "bind", lease }, call);
  expect(asked).toEqual([{ timings: true }, {}, {}]);
});

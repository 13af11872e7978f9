import { expect, test } from "vitest";
import type { Pod } from "../../../platform/kube/objects.ts";
import { createTracer, type EndedSpan } from "../../../platform/tracing/tracer.ts";
import type { PodOwner } from "../pod/pod.ts";
import { createStartTraces } from "./start-traces.ts";

const at = (second: number): number => Date.UTC(2030, 0, 1, 0, 0, second);
const time = (second: number): string => new Date(at(second)).toISOString();
const is = (type: string, second: number) => ({ type, status: "True", lastTransitionTime: time(second) });

const pod = {
  metadata: { name: "browser-1", namespace: "shop", uid: "uid", creationTimestamp: time(0) },
  spec: { nodeName: "node", containers: [] },
  status: {
    conditions: [is("PodScheduled", 1), is("Ready", 7)],
    containerStatuses: [{ name: "agent", state: { running: { startedAt: time(5) } } }],
  },
} as unknown as Pod;

const ownerOf = (kind: string, traceparent?: string): PodOwner =>
  ({
    kind,
    metadata: { name: "owner", annotations: { "browserpool.dev/traceparent": traceparent } },
  }) as unknown as PodOwner;

/** The spans of a start whose browser is registered `nowMs` after the epoch. */
const spansOf = (owner: PodOwner, { ratio = 1, nowMs = at(9) } = {}): EndedSpan[] => {
  const spans: EndedSpan[] = [];
  const traces = createStartTraces(createTracer({ ratio, onEnd: (span) => spans.push(span) }), () => nowMs);
  traces.registered(owner, "uid");
  expect(spans, "of one whose start it has not seen").toEqual([]);
  traces.ready(pod);
  traces.registered(owner, "uid");
  const { length } = spans;
  traces.registered(owner, "uid");
  expect(spans, "of one that is registered again").toHaveLength(length);
  return spans;
};

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test("a start is a trace with a span for each stage, until the browser is registered", () => {
  const [start, ...stages] = spansOf(ownerOf("BrowserPool"));
  expect(start).toMatchObject({
    ...{ name: "start", parentSpanId: undefined, link: undefined, startMs: at(0), endMs: at(9) },
    attributes: {
      "k8s.namespace.name": "shop",
      "k8s.node.name": "node",
      "browserpool.browser.pod": "browser-1",
      "browserpool.pool.id": "owner",
    },
  });
  expect(stages.map(({ name, startMs, endMs }) => [name, startMs, endMs])).toEqual([
    ["start.scheduled", at(0), at(1)],
    ["start.running", at(1), at(5)],
    ["start.ready", at(5), at(7)],
    ["start.registered", at(7), at(9)],
  ]);
  for (const { parentSpanId, context } of stages) {
    expect(parentSpanId).toBe(start?.context.spanId);
    expect(context.traceId).toBe(start?.context.traceId);
  }
});

test("a start for a request that is recorded is linked to it, and recorded whatever the share is", () => {
  const [start] = spansOf(ownerOf("Browser", `00-${traceId}-${spanId}-01`), { ratio: 0 });
  expect(start?.link).toMatchObject({ traceId, spanId });
  expect(start?.context.traceId).not.toBe(traceId);
  expect(start?.attributes).toMatchObject({ "session.id": "owner" });
  expect(spansOf(ownerOf("Browser", `00-${traceId}-${spanId}-00`))).toEqual([]);
});

test.each([
  ["of a pool", ownerOf("BrowserPool", `00-${traceId}-${spanId}-01`)],
  ["that is none", ownerOf("Browser", "<script>")],
  ["that is huge", ownerOf("Browser", `00-${traceId}-${spanId}-01${"-x".repeat(100_000)}`)],
])("an annotation %s is ignored", (_, owner) => {
  expect(spansOf(owner)[0]).toMatchObject({ link: undefined });
  expect(spansOf(owner, { ratio: 0 })).toEqual([]);
});

test("no stage ends before it begins when the kubelet's clock is ahead", () => {
  const spans = spansOf(ownerOf("BrowserPool"), { nowMs: at(3) });
  expect(spans.at(-1)).toMatchObject({ name: "start.registered", startMs: at(7), endMs: at(7) });
  expect(spans[0]).toMatchObject({ endMs: at(7) });
});

import { expect, test } from "vitest";
import { parseTraceparent, traceparentOf } from "./trace-context.ts";

const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];

test("a traceparent is read and written as the standard has it", () => {
  for (const sampled of [true, false]) {
    const text = `00-${traceId}-${spanId}-0${Number(sampled)}`;
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, sampled });
    expect(traceparentOf({ traceId, spanId, sampled })).toBe(text);
  }
  // Later versions may have more, and other flags.
  expect(parseTraceparent(`cc-${traceId}-${spanId}-03-what`)?.sampled).toBe(true);
});

test.each([
  undefined,
  "",
  `00-${traceId}-${spanId}`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\r\nX-Other: 1`,
])("a bad one is ignored: %s", (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

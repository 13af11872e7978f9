import { expect, test } from "vitest";
import { parseTraceparent, traceHeaders, traceIn, traceparentOf } from "./trace-context.ts";

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

const traceparent = `00-${traceId}-${spanId}-01`;
/** What is passed on of a tracestate. */
const passedOn = (tracestate: string): string | undefined => {
  const context = traceIn({ traceparent, tracestate });
  return context && traceHeaders(context).tracestate;
};

test.each([
  "congo=t61rcWkgMzE",
  "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
  "1tenant@vendor=a b;c:d,x*-/_0=~!",
  `${"k".repeat(256)}=${"v".repeat(255)}`,
])("a tracestate is passed on as it came: %s", (tracestate) => {
  expect(passedOn(tracestate)).toBe(tracestate);
});

test("blanks around members and empty members are left out of it", () => {
  expect(passedOn(" a=1 ,\t, b=2,, ")).toBe("a=1,b=2");
  expect(passedOn(" , ,")).toBeUndefined();
});

test.each([
  "novalue",
  "=1",
  "a=",
  "a=1=2",
  "A=1",
  "a b=1",
  "a=1,a=2",
  "a@=1",
  "a@b@c=1",
  `${"k".repeat(257)}=1`,
  `a=${"v".repeat(257)}`,
  "a=\u00e4",
  "a=1\u0000",
  "a=1\r\nset-cookie: x",
  "__proto__=1",
  `a=1,${"=".repeat(16_000)}`,
  `a=1${" ".repeat(16_000)}b=2`,
])("one that is not a list of members is dropped as a whole: %j", (tracestate) => {
  expect(passedOn(tracestate)).toBeUndefined();
});

test("of a long one 32 members and 512 characters are kept, and long members go first", () => {
  const many = Array.from({ length: 5000 }, (_, index) => `k${index}=1`);
  expect(passedOn(many.join(","))).toBe(many.slice(0, 32).join(","));
  const members = Array.from({ length: 10 }, (_, index) => `k${index}=${"v".repeat(90)}`);
  expect(passedOn(members.join(","))).toBe(members.slice(0, 5).join(","));
  const long = `long=${"v".repeat(200)}`;
  expect(passedOn([long, ...members.slice(0, 5)].join(","))).toBe(members.slice(0, 5).join(","));
});

test("it goes with its traceparent: without a valid one, and where nothing is recorded, there is none", () => {
  expect(traceIn({ tracestate: "a=1" })).toBeUndefined();
  expect(traceIn({ traceparent: `00-${traceId}-${spanId}`, tracestate: "a=1" })).toBeUndefined();
  expect(traceIn({ traceparent: `00-${traceId}-${spanId}-00`, tracestate: "a=1" })).toEqual({
    traceId,
    spanId,
    sampled: false,
  });
});

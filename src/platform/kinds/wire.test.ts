import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { BrowserPoolSpec } from "../../core/model/pools/browser-pool.ts";
import { fromWire, joinPath, toWire, type Wire, wirePath, wireSchema } from "./wire.ts";

const Schema = z.object({
  startUrl: z.string().min(2).max(5).optional().describe("Where to start."),
  chromePolicy: z.record(z.string(), z.unknown()).optional(),
  perHost: z.record(z.string(), z.object({ maxAge: z.int() })).optional(),
  proxyRoutes: z
    .array(z.object({ viaProxy: z.object({ proxyId: z.string() }) }))
    .max(2)
    .optional(),
  viewPort: z.object({ refreshRate: z.int() }).default({ refreshRate: 25 }),
  lastSeen: z.string().nullable().optional(),
});

const camel: z.output<typeof Schema> = {
  startUrl: "abc",
  chromePolicy: { startUrl: { innerKey: 1 }, snake_key: null, __proto__x: [] },
  perHost: { someHost: { maxAge: 1 } },
  proxyRoutes: [{ viaProxy: { proxyId: "p" } }],
  viewPort: { refreshRate: 60 },
  lastSeen: null,
};

const snake = {
  start_url: "abc",
  chrome_policy: { startUrl: { innerKey: 1 }, snake_key: null, __proto__x: [] },
  per_host: { someHost: { max_age: 1 } },
  proxy_routes: [{ via_proxy: { proxy_id: "p" } }],
  view_port: { refresh_rate: 60 },
  last_seen: null,
};

test("field names change on the way, keys and values of free maps do not", () => {
  expect(toWire(Schema, camel)).toEqual(snake);
  expect(fromWire(Schema, snake)).toEqual(camel);
});

test("fields that are undefined or unknown do not travel", () => {
  const value = { startUrl: undefined, viewPort: { refreshRate: 1, other: 2 }, other: 3 };
  expect(Object.keys(toWire(Schema, value))).toEqual(["view_port"]);
  expect(toWire(Schema, value).view_port).toEqual({ refresh_rate: 1 });
});

test("the way there and back gives the same, whatever free keys are used", () => {
  const arbitrary = fc.record({
    chromePolicy: fc.dictionary(fc.string(), fc.jsonValue()),
    viewPort: fc.constant({ refreshRate: 1 }),
  });
  fc.assert(
    fc.property(arbitrary, (value) => {
      expect(fromWire(Schema, toWire(Schema, value))).toEqual(value);
    }),
  );
});

test("the types follow: optional stays optional, free maps keep their keys", () => {
  type Given = {
    refreshRate?: number;
    hosts: { maxAge: number }[];
    tags: Record<string, { maxAge: number }>;
    any: unknown;
  };
  expectTypeOf<Wire<Given>>().toEqualTypeOf<{
    refresh_rate?: number;
    hosts: { max_age: number }[];
    tags: Record<string, { max_age: number }>;
    any: unknown;
  }>();
});

describe("the schema on the wire", () => {
  const wire = wireSchema(Schema);

  test("fills in the same defaults, in snake_case", () => {
    expect(wire.parse({})).toEqual({ view_port: { refresh_rate: 25 } });
  });

  test("keeps the checks, and its problems name wire fields", () => {
    const paths = (value: unknown) =>
      wire.safeParse(value).error?.issues.map((issue) => joinPath(issue.path as string[]));
    expect(paths({ start_url: "a" })).toEqual(["start_url"]);
    expect(paths({ start_url: "abcdef" })).toEqual(["start_url"]);
    expect(paths({ proxy_routes: [{ via_proxy: { proxy_id: "p" } }, { via_proxy: {} }] })).toEqual([
      "proxy_routes[1].via_proxy.proxy_id",
    ]);
    expect(paths({ proxy_routes: [1, 2, 3].map(() => ({ via_proxy: { proxy_id: "p" } })) })).toEqual(["proxy_routes"]);
    expect(paths({ last_seen: null })).toBeUndefined();
  });

  test("ignores unknown fields, the camelCase names among them", () => {
    expect(wire.parse({ startUrl: "abc", view_port: { refresh_rate: 1 } })).toEqual({ view_port: { refresh_rate: 1 } });
  });

  test("keeps the descriptions and leaves Kubernetes out", () => {
    const text = JSON.stringify(z.toJSONSchema(wireSchema(BrowserPoolSpec), { io: "input" }));
    expect(text).toContain("Seconds without a connection after which");
    expect(text).not.toContain("x-kubernetes");
  });
});

test("a path on the wire follows the schema and leaves free keys alone", () => {
  const at = (...path: (string | number)[]) => joinPath(wirePath(Schema, path));
  expect(at("proxyRoutes", 3, "viaProxy", "proxyId")).toBe("proxy_routes[3].via_proxy.proxy_id");
  expect(at("chromePolicy", "ProxyMode", "innerKey")).toBe("chrome_policy.ProxyMode.innerKey");
  expect(at()).toBe("");
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { routes } from "../../cmd/features.ts";
import { ignoredFields } from "./ignored-fields.ts";

const bodyOf = (operationId: string) => routes.find((route) => route.operationId === operationId)?.body;

const ignoredIn = (schema: z.ZodType | undefined, body: unknown) => ignoredFields({ body: schema }, { body });

describe("the fields of a body that are ignored", () => {
  // HTTP-6
  test("are found at every level, and keys of free maps are none", () => {
    const pool = {
      size: 1,
      sizes: 2,
      viewport: { width: 1, height: 1, depth: 3 },
      extensions: [{ id: "a" }, { id: "b", version: 2 }],
      chrome_policy: { Anything: { goes: 1 } },
      telemetry: { browser: { console: { enabled: true, level: 1 } } },
      profile: { id: "x", save_changes: true },
    };
    expect(ignoredIn(bodyOf("createBrowserPool"), pool)).toBe(
      "sizes, viewport.depth, extensions[1].version, telemetry.browser.console.level, profile.save_changes",
    );
    expect(ignoredIn(bodyOf("acquireBrowser"), { tags: { any: "thing" }, name: "x" })).toBeUndefined();
    expect(ignoredIn(undefined, { a: 1 })).toBe("a");
    expect(ignoredIn(undefined, {})).toBeUndefined();
  });

  // HTTP-6
  test("are known when one of several forms has them", () => {
    const schema = z.object({ a: z.union([z.object({ x: z.string() }), z.object({ y: z.string() })]).optional() });
    expect(ignoredIn(schema, { a: { x: "", y: "", z: "" } })).toBe("a.z");
    expect(
      ignoredIn(z.intersection(z.object({ p: z.string() }), z.object({ q: z.string() })), { p: "", q: "", r: 1 }),
    ).toBe("r");
  });

  // HTTP-6
  test("are few, and in a form that a header takes", () => {
    const names = ["a,b", "c\r\nSet-Cookie: x", "\ud800", "ü", "x".repeat(1000), "__proto__"];
    const header = ignoredIn(undefined, Object.fromEntries(names.map((name) => [name, 1]))) ?? "";
    expect(header.split(", ")).toEqual([
      "a%2Cb",
      "c%0D%0ASet-Cookie:%20x",
      "%EF%BF%BD",
      "%C3%BC",
      "x".repeat(100),
      "__proto__",
    ]);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]));
    expect(ignoredIn(undefined, many)?.split(", ")).toHaveLength(20);
  });

  // HTTP-6
  test("of a query are named with a question mark", () => {
    const query = z.object({ limit: z.string().optional(), tags: z.record(z.string(), z.string()).optional() });
    const given = { body: { a: 1 }, query: { limit: "1", tags: { team: "x" }, limt: "2" } };
    expect(ignoredFields({ query }, given)).toBe("a, ?limt");
    expect(ignoredFields({}, { body: undefined, query: { limit: "1" } })).toBe("?limit");
  });
});

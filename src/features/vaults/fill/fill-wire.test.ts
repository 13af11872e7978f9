import { expect, test } from "vitest";
import { FillItem } from "./fill-wire.ts";

const binding = { field: "password", selector: "#password" };
const request = (more: object = {}) =>
  FillItem.safeParse({ type: "fill", browser_id: "session", fields: [binding], ...more });

// FILL-6
test("a fill has 10 s when its request does not say", () => expect(request().data?.timeout_ms).toBe(10_000));

// FILL-6, FILL-8
test.each<[string, object, boolean]>([
  ["1 ms", { timeout_ms: 1 }, true],
  ["30 s", { timeout_ms: 30_000 }, true],
  ["no time at all", { timeout_ms: 0 }, false],
  ["more than 30 s", { timeout_ms: 30_001 }, false],
  ["50 bindings", { fields: Array(50).fill(binding) }, true],
  ["no binding", { fields: [] }, false],
  ["51 bindings", { fields: Array(51).fill(binding) }, false],
  ["a binding without a field", { fields: [{ selector: "#password" }] }, false],
  ["a binding without a selector", { fields: [{ field: "password" }] }, false],
])("a request with %s", (_what, more, isGood) => expect(request(more).success).toBe(isGood));

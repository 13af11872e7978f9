import { expect, test } from "vitest";
import { wireName } from "../../platform/kinds/identity.ts";
import { newId } from "./new-id.ts";

const ids = Array.from({ length: 2000 }, newId);

test("an id is taken for one, and not for a name that a person gave", () => {
  for (const name of ids) expect(wireName({ metadata: { name }, spec: {} } as never)).toBeUndefined();
});

// HTTP-10
test("no id comes twice, and every character is used everywhere but digits in front", () => {
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id[0])).size).toBe(26);
  expect(new Set(ids.map((id) => id[23])).size).toBe(36);
});

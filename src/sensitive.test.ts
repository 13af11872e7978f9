import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Sensitive } from "./sensitive.ts";

const text = "hunter2-canary";

test("the text comes out by name only", () => {
  const sensitive = new Sensitive(text);
  expect(sensitive.reveal()).toBe(text);
  const shown = [
    `${sensitive}`,
    String(sensitive),
    JSON.stringify({ sensitive }),
    inspect({ sensitive }, { showHidden: true, depth: 9 }),
    JSON.stringify(Object.entries(sensitive)),
    JSON.stringify(structuredClone({ ...sensitive })),
  ];
  for (const each of shown) expect(each).not.toContain(text);
  expect(shown[0]).toBe("[redacted]");
});

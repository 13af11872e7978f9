import { expect, test } from "vitest";
import { createSilentNodes } from "./silent-nodes.ts";

test("few agents of a node that does not answer are asked at once, and all again when one answers", () => {
  const nodes = createSilentNodes();
  for (let n = 0; n < 5; n++) expect(nodes.enter("gone", true)).toBe(true);
  for (let n = 0; n < 3; n++) {
    expect(nodes.isSilent("gone")).toBe(false);
    expect(nodes.leave("gone", "silent")).toBe(false);
  }
  expect(nodes.isSilent("gone")).toBe(true);
  expect(nodes.isSilent("other")).toBe(false);
  // Two are still being asked.
  expect(nodes.enter("gone", true)).toBe(false);
  nodes.leave("gone", "unknown");
  expect(nodes.enter("gone", true)).toBe(true);
  // Somebody waits for this one.
  expect(nodes.enter("gone", false)).toBe(true);
  nodes.leave("gone", "unknown");
  expect(nodes.leave("gone", "answered")).toBe(true);
  expect(nodes.isSilent("gone")).toBe(false);
  expect(nodes.leave("gone", "answered")).toBe(false);
});

test("a node of which some agents answer is not silent", () => {
  const nodes = createSilentNodes();
  for (let n = 0; n < 20; n++) {
    nodes.enter("mixed", true);
    nodes.leave("mixed", n % 3 === 2 ? "answered" : "silent");
    expect(nodes.isSilent("mixed")).toBe(false);
  }
});

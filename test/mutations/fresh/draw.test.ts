import { expect, test } from "vitest";
import { applyPatches } from "../../robustness/hook/source-patch.ts";
import { draw, productSources } from "./draw.ts";

const sources = productSources();
const first = (count: number, seed: number, of = sources) => draw(of, seed).take(count).toArray();

test("the same seed draws the same mistakes, another one others, each once", () => {
  const drawn = first(300, 1);
  expect(first(300, 1)).toEqual(drawn);
  const names = drawn.map(({ name }) => name);
  expect(new Set(names).size).toBe(300);
  expect(first(300, 2).filter(({ name }) => names.includes(name)).length).toBeLessThan(30);
});

test("every mistake fits its file in one place, and changes it", () => {
  for (const mutation of first(300, 3)) {
    const text = sources.get(mutation.file) ?? "";
    expect(applyPatches(mutation.file, text, [mutation]), mutation.name).not.toBe(text);
  }
});

test("a file weighs its lines times the risk of its folder, and the draw ends when there are no more mistakes", () => {
  const text = `${"f();\n".repeat(200)}`;
  const drawn = first(
    100,
    1,
    new Map([
      ["core/leases/a.ts", text],
      ["core/metrics/b.ts", text],
    ]),
  ).map(({ file }) => file);
  expect(drawn.filter((file) => file === "core/leases/a.ts").length).toBeGreaterThan(65);
  expect(first(100, 1, new Map([["core/leases/a.ts", "if (a < b) f();\n"]]))).toHaveLength(3);
});

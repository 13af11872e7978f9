import { expect, test } from "vitest";
import { functionsOf, instrumented } from "./instrument.ts";

const source = `const one = (a: number): number => a + 1;
const made = (a: number) => ({ a });
export const curried = (a: number) => (b: number) => a + b;
export function two(a: number): number {
  const inner = (b: number): number => { return one(b); };
  return a > 0 ? inner(a) : 0;
}
export const three = { method(): { a: number } { return made(2); } };
`;

test("functions come in the order in which they begin, nested ones within, each by its file and text", () => {
  const texts = functionsOf("a.ts", source).map(({ start, end }) => source.slice(start, end).split("\n")[0]);
  expect(texts).toEqual([
    "(a: number): number => a + 1",
    "(a: number) => ({ a })",
    "(a: number) => (b: number) => a + b",
    "(b: number) => a + b",
    "function two(a: number): number {",
    "(b: number): number => { return one(b); }",
    "(): { a: number } { return made(2); }",
  ]);
  const hits = (text: string) => functionsOf("a.ts", text).map(({ hit }) => hit);
  expect(hits(`const zero = () => 0;\n${source}`).slice(1)).toEqual(hits(source));
  expect(new Set(hits(source)).size).toBe(7);
});

test("each notes when it runs, and answers as before", async () => {
  const noted = instrumented("a.ts", source)
    .replace(/^import [^;]+;/, "")
    .replaceAll(/: number|: \{ a\}/g, "");
  expect(noted).toContain('globalThis.noteHit?.("a.ts#loaded")');
  const hits: string[] = [];
  Object.assign(globalThis, { noteHit: (id: string) => hits.push(id) });
  try {
    const plain = noted.replaceAll("(): { a } {", "() {");
    const { two, curried, three } = await import(`data:text/javascript,${encodeURIComponent(plain)}`);
    expect(hits).toEqual(["a.ts#loaded"]);
    expect([two(0), two(1), curried(1)(2), three.method()]).toEqual([0, 2, 3, { a: 2 }]);
    const known = functionsOf("a.ts", source).map(({ hit }) => hit);
    expect([...new Set(hits.slice(1))]).toEqual([4, 5, 0, 2, 3, 6, 1].map((place) => known[place]));
  } finally {
    Object.assign(globalThis, { noteHit: undefined });
  }
});

import { describe, expect, test } from "vitest";
import { checkUnused } from "./check-unused.ts";

const problems = (files: Record<string, string>): string[] => checkUnused(new Map(Object.entries(files)));

/** `src/a.ts` with this text, and a program that is started by name and imports it so. */
const imported = (text: string, imports: string): string[] =>
  problems({ "package.json": '{"scripts":{"start":"node src/main.ts"}}', "src/main.ts": imports, "src/a.ts": text });

describe("what another file imports is used", () => {
  test.each([
    ["export const a = 1;", 'import { a } from "./a.ts";'],
    ["export type A = 1;", 'import type { A } from "./a.ts";'],
    ["const a = 1;\nexport { a as b };", 'import { b as c } from "./a.ts";'],
    ["export const { a, b: [c] } = d;", 'import { a, c } from "./a.ts";'],
    ["export default 1;", 'import a from "./a.ts";'],
    ["export const a = 1;", 'import * as all from "./a.ts";'],
    ["export const a = 1;", 'const { a } = await import("./a.ts");'],
    ["export class A {}\nexport type B = A;", 'import { A, type B } from "./a.ts";'],
    ["const a = 1;", 'import "./a.ts";'],
  ])("%s, by %s", (text, imports) => expect(imported(text, imports)).toEqual([]));
});

describe("an export that no other file imports is unused", () => {
  test.each([
    ["export const a = 1;", 'import "./a.ts";', "a"],
    ["export const a = 1;\nconst b = a;", 'import {} from "./a.ts";', "a"],
    ["export type A = 1;\nexport const b = (a: A) => a;", 'import { b } from "./a.ts";', "A"],
    ["export type A = 1;", 'const all = await import("./a.ts");', "A"],
    ["const a = 1;\nexport { a as b };", 'import { a } from "./a.ts";', "b"],
    ["export default 1;", 'import { a } from "./a.ts";', "default"],
  ])("%s, despite %s", (text, imports, name) =>
    expect(imported(text, imports)).toEqual([
      expect.stringMatching(new RegExp(`^src/a\\.ts:\\d exports ${name}, which no other file imports$`)),
    ]),
  );

  test("though a file of the same name in another folder exports it too", () =>
    expect(
      problems({
        "src/a.test.ts": 'import { a } from "./a.ts";',
        "src/a.ts": "export const a = 1;",
        "src/b/c.test.ts": 'import "./a.ts";',
        "src/b/a.ts": "export const a = 1;",
      }),
    ).toEqual(["src/b/a.ts:1 exports a, which no other file imports"]));

  test("though a comment of another file shows how to import it", () =>
    expect(imported("export const a = 1;", '// import { a } from "./a.ts";')).toEqual([
      "src/a.ts:1 exports a, which no other file imports",
    ]));
});

describe("a file that others start by its path is used", () => {
  test.each([
    ["package.json", '{ "scripts": { "a": "node tools/a.mjs" } }'],
    ["README.md", "Run `node tools/a.mjs`."],
    [".ci/run", "node tools/a.mjs --all"],
    ["tools/b.test.ts", 'fork(join(import.meta.dirname, "a.mjs"));'],
    ["tools/deep/b.test.ts", 'fork(join(import.meta.dirname, "../a.mjs"));'],
    ["test/b.test.ts", 'fork("tools/a.mjs");'],
  ])("%s: %s", (file, text) => expect(problems({ [file]: text, "tools/a.mjs": "" })).toEqual([]));
});

describe("a file that no other file names is unused", () => {
  test.each([
    ["tools/b.test.ts", "// as a.mjs does"],
    ["tools/b.test.ts", 'fork("../a.mjs");'],
    ["tools/a.mjs", 'console.log("a.mjs");'],
    ["records.json", '["tools/a.mjs"]'],
  ])("%s: %s", (file, text) =>
    expect(problems({ "tools/a.mjs": "", [file]: text })).toEqual(["tools/a.mjs is named by no other file"]),
  );
});

test("what is loaded by a computed name exports what its loader uses, and nothing else", () =>
  expect(problems({ "bench/sections/a.ts": "export const section = 1;\nexport const b = 2;" })).toEqual([
    "bench/sections/a.ts:2 exports b, which no other file imports",
  ]));

test("a package is used where a file imports or requires it or its parts", () =>
  expect(
    problems({
      "package.json": JSON.stringify({
        dependencies: { ws: "1", "@a/b": "1", gone: "1" },
        devDependencies: { "@types/ws": "1", typescript: "1", react: "1", vue: "1", "@types/gone": "1" },
      }),
      "a.test.ts": 'import "ws";\nimport "@a/b/c";\nrequire("react/d");\nrequire.resolve("vue/package.json");',
    }),
  ).toEqual([
    "package.json depends on gone, which no file imports",
    "package.json depends on @types/gone, which no file imports",
  ]));

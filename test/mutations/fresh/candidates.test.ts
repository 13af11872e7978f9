import { expect, test } from "vitest";
import { candidatesOf } from "./candidates.ts";
import type { FreshKind } from "./kinds/all-kinds.ts";

/** The texts that mistakes of a kind make of a source text. */
const mutants = (kind: FreshKind, text: string, file = "a.ts"): string[] =>
  (candidatesOf(file, text).get(kind) ?? []).map(
    ({ start, end, replace }) => text.slice(0, start) + replace + text.slice(end),
  );

test.each<[FreshKind, string, string[]]>([
  ["condition", "if (a) b();", ["if (!a) b();"]],
  ["condition", "if (!a) b();", ["if (a) b();"]],
  ["condition", "if (a === 1) b();", ["if (a !== 1) b();"]],
  ["condition", "if (a > 1 && c) b();", ["if (!(a > 1 && c)) b();"]],
  ["condition", "f(a ? b : c);", ["f(a ? c : b);"]],
  ["operand", "f(a && b || c);", ["f(a && b);", "f(c);", "f(a || c);", "f(b || c);"]],
  ["operand", "f({ ...(a && { b }) });", []],
  ["guard", "() => {\nf();\nif (a) return;\n};", ["() => {\nf();\n};"]],
  ["guard", "if (a) {\n  b();\n  throw c;\n}\ng();\n", ["g();\n"]],
  ["guard", "if (a) throw b; else throw c;", []],
  ["bound", "f(a < b);", ["f(a <= b);"]],
  ["bound", "f(a.length >= 2);", ["f(a.length > 2);", "f(a.length >= 1);", "f(a.length >= 3);"]],
  ["bound", "f(a === 0);", ["f(a === 1);"]],
  ["bound", "f(Math.min(a, b));", ["f(Math.max(a, b));"]],
  ["bound", "f(a.slice(0, b));", ["f(a.slice(1, b));"]],
  ["bound", "f(a + 1);", ["f(a);"]],
  ["unit", "f(seconds * 1000);", ["f(seconds);"]],
  ["unit", "const waitMs = 5_000;", ["const waitMs = 5;"]],
  ["unit", "const mostBytes = 512;", ["const mostBytes = 524288;"]],
  [
    "unit",
    "f({ waitMs, idleSeconds: a.b });",
    ["f({ waitMs: waitMs * 1000, idleSeconds: a.b });", "f({ waitMs, idleSeconds: a.b / 1000 });"],
  ],
  ["unit", "const items = 5_000;", []],
  ["await", "await f();", ["void f();"]],
  ["await", "async () => { try { return await f(); } catch {} };", ["async () => { try { return f(); } catch {} };"]],
  ["await", "async () => { return await f(); };", []],
  ["await", "async () => { try { g(async () => { return await f(); }); } catch {} };", []],
  ["statement", "f();\nawait g(a);\n", ["await g(a);\n", "f();\n"]],
  ["statement", "if (a) f();\nh(b);\n", ["h(b);\n", "if (a) f();\n"]],
  ["clean-up", "clearTimeout(a);\nsocket.off(b);\n", ["socket.off(b);\n", "clearTimeout(a);\n"]],
  ["clean-up", "try { f(); } finally { g(); }", ["f();"]],
  ["clean-up", "try { f(); } catch { h(); } finally { g(); }", ["try { f(); } catch { h(); }"]],
  ["clean-up", "f().finally(() => g());", ["f();"]],
  ["clean-up", "async () => { await using a = f(); };", ["async () => { const a = f(); };"]],
  ["signal", "f(a, { b, signal });", ["f(a, { b });"]],
  ["signal", "f(a, options.signal);", ["f(a);"]],
  ["signal", "f(AbortSignal.any([a, b]));", ["f(AbortSignal.any([b]));", "f(AbortSignal.any([a]));"]],
  ["signal", "signal.throwIfAborted();\nf();\n", ["f();\n"]],
  ["default", "f(a ?? b);", ["f(a);"]],
  ["default", "f(a ?? 5);", ["f(a);", "f(a ?? 0);"]],
  ["default", "const { a = true } = b;", ["const { a = false } = b;"]],
  ["default", "const a = z.int().default(3);", ["const a = z.int().default(0);"]],
  ["order", "await f();\na.b = c;\n", ["a.b = c;\nawait f();\n"]],
  ["order", "f();\ng();\n", []],
  ["filter", "f(a.filter(b).map(c));", ["f(a.map(c));"]],
  [
    "field",
    "f({ a, ...(b && { b }), c });",
    ["f({ ...(b && { b }), c });", "f({ a, c });", "f({ a, ...(b && { b }) });"],
  ],
  ["arguments", "f(a, b.c, () => d);", ["f(b.c, a, () => d);"]],
  ["arguments", "f(1, 2);", []],
])("%s: %j becomes %j", (kind, text, expected) => {
  expect(mutants(kind, text)).toEqual(expected);
});

test.each([
  'log.warn({ a: b ? 1 : 2 }, "text");',
  "deps.log.info({ a }, b < 1 ? c : d);",
  "const text = `a $" + "{a ? b : c}`;",
  "throw new AppError(a ? b : c, d, { e: 1 });",
  'const schema = z.string().describe(a ? "b" : "c").meta({ description: d(1, 2) });',
  "const help = { message: a && b, help: c < 1 };",
  "type A = B extends C ? D : E;",
  'import { a } from "b";',
])("nothing is changed in %j", (text) => {
  expect([...candidatesOf("a.ts", text).values()].flat()).toEqual([]);
});

const script = `-- Returns 1 when a < b, 0 when not.
-- KEYS[1] if so then some
local a = tonumber(redis.call("GET", KEYS[1]) or 0) -- a < b
if a and (a > 1 or b) then return 0 end
if not b then
  redis.call("HSET", KEYS[1], "a < b", math.min(a, b + 1))
  redis.call("DEL", KEYS[2])
  tell(a, b)
end
local lease = { a = b, c = d, e = now * 1000 }
`;

test.each<[FreshKind, [before: string, after: string][]]>([
  [
    "condition",
    [
      ["if a and (a > 1 or b) then", "if not (a and (a > 1 or b)) then"],
      ["if not b then", "if b then"],
    ],
  ],
  [
    "operand",
    [
      ["if a and (a > 1 or b) then", "if (a > 1 or b) then"],
      ["if a and (a > 1 or b) then", "if a then"],
    ],
  ],
  ["guard", [["if a and (a > 1 or b) then return 0 end\n", ""]]],
  [
    "bound",
    [
      ["a > 1", "a >= 1"],
      ["a > 1", "a > 0"],
      ["a > 1", "a > 2"],
      ["b + 1", "b"],
      ["math.min", "math.max"],
    ],
  ],
  [
    "statement",
    [
      ['  redis.call("HSET", KEYS[1], "a < b", math.min(a, b + 1))\n', ""],
      ["  tell(a, b)\n", ""],
    ],
  ],
  ["clean-up", [['  redis.call("DEL", KEYS[2])\n', ""]]],
  ["default", [[" or 0)", ")"]]],
  [
    "field",
    [
      ["a = b, ", ""],
      ["c = d, ", ""],
    ],
  ],
  ["arguments", [["tell(a, b)", "tell(b, a)"]]],
  ["unit", [["now * 1000", "now"]]],
])("%s in a script", (kind, changes) => {
  expect(mutants(kind, script, "a.lua")).toEqual(changes.map(([before, after]) => script.replace(before, after)));
});

test("what is more than a name is not swapped in a script", () => {
  expect(mutants("arguments", "tell(a, ARGV[2])\n", "a.lua")).toEqual([]);
});

test("two calls of a script that follow each other are swapped", () => {
  expect(mutants("order", 'f(a)\nredis.call("DEL", b)\nlocal c\n', "a.lua")).toEqual([
    'redis.call("DEL", b)\nf(a)\nlocal c\n',
  ]);
});

import { expect, test } from "vitest";
import { checkDocstrings } from "./check-docstrings.ts";

const problems = (text: string, file = "kube/a.ts"): string[] => checkDocstrings(new Map([[file, text]]));

test.each([
  ["/** One. */\nexport const a = (): number => 1;"],
  ['import "x";\n/** One. */\n// biome-ignore lint/x: y\nexport const a = 1;'],
  ["/**\n * One,\n * and two.\n */\nexport async function a() {}"],
  ["/** One. */\nconst a = 1;\nexport { a };"],
  ['export const Thing = z.object({}).describe("A thing.");'],
  ['export const Thing = z\n  .object({})\n  .describe("A thing.");'],
  ['export const Thing = Other.extend({ a: z.string().describe("A.") });'],
  ["export const ThingWire = wireSchema(Thing);"],
  ["export const things: ResourceType<Thing> = {};"],
  ["export type A = { b: string };"],
  ['export { a } from "./a.ts";'],
  ["const a = 1;"],
])("what explains itself or has a docstring is fine: %s", (text) => expect(problems(text)).toEqual([]));

test.each([
  ["function", "export async function a() {}"],
  ["constant", "export const a = 1;"],
  ["class", "export class a {}"],
  ["listed constant", "const a = 1;\nexport { a };"],
  ["schema without a description", "export const a = z.object({});"],
  ["value under a comment of another kind", "// One.\nexport const a = 1;"],
  ["value under another one's docstring", "/** One. */\nconst b = 1;\nexport const a = 1;"],
  ["value under a comment that stands apart", "/** One. */\n\nexport const a = 1;"],
])("an exported %s needs one", (_what, text) =>
  expect(problems(text)).toEqual([expect.stringMatching(/^kube\/a\.ts:\d exports a without a docstring$/)]),
);

test("a comment at the top of the file explains the file, not what it exports", () =>
  expect(problems('/** All of it. */\nimport "x";\n\nexport const a = (): number => 1;')).toEqual([
    "kube/a.ts:4 exports a without a docstring",
  ]));

test("tests export for themselves", () => expect(problems("export const a = 1;", "kube/a.test.ts")).toEqual([]));

import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type Target, targetOf } from "../rules/target.ts";
import { createJudge } from "./judge.ts";
import { builtInRules, readJudgeRules } from "./read-rules.ts";

const read = (own: unknown) =>
  readJudgeRules({
    builtIn: builtInRules,
    own: typeof own === "string" ? own : stringify(own, { aliasDuplicateObjects: false }),
  });

const rule = { name: "mine", any: [{ status: [200] }], verdict: "blocked", reason: "denied" };

// LOOKUP-55, LOOKUP-57
test("an administrator's rules come first, and both versions are known", () => {
  const builtIn = readJudgeRules({ builtIn: builtInRules });
  expect(builtIn.versions).toEqual({ builtIn: expect.any(Number), own: undefined });
  const rules = read({ version: 7, rules: [rule] });
  expect(rules.versions).toEqual({ ...builtIn.versions, own: 7 });
  expect(rules.rules).toEqual([rule, ...builtIn.rules]);
  const page = { text: "The boats left the harbour before noon.", title: "", markup: "" };
  const seen = { status: 200, headers: {}, url: "https://site.example/", redirects: [], frames: [] };
  const visit = { ...seen, ...page, isBlank: false, error: undefined };
  const target = targetOf("https://site.example/") as Target;
  expect(createJudge(builtIn)(visit, target)).toMatchObject({ verdict: "accessed", rule: "ordinary" });
  expect(createJudge(rules)(visit, target)).toMatchObject({ verdict: "blocked", reason: "denied", rule: "mine" });
});

const withRule = (change: object): object => ({ version: 1, rules: [rule, { ...rule, name: "other", ...change }] });

// LOOKUP-56
describe("what is not right is refused by name", () => {
  test.each<[string, unknown, string]>([
    ["no YAML", "rules: [", "own rules: "],
    ["an empty file", "", "own rules: file: "],
    ["no version", { rules: [] }, "own rules: version: "],
    ["an unknown key", { version: 1, rules: [], rule: 1 }, 'own rules: file: Unrecognized key: "rule"'],
    ["aliases", "version: 1\nrules: [&a {name: x}, *a]", "own rules: Alias resolution is disabled"],
    ["too much text", `# ${"x".repeat(131_072)}`, "own rules: longer than 131072 characters"],
    ["deep nesting", "[".repeat(100_000), "own rules: "],
    ["no condition", withRule({ any: [] }), 'own rules: rule 2 "other", any: '],
    ["an empty condition", withRule({ any: [{}] }), 'own rules: rule 2 "other", any[1]: must ask for something'],
    ["an unknown condition", withRule({ any: [{ body: "x" }] }), 'rule 2 "other", any[1]: Unrecognized key: "body"'],
    [
      "a pattern for nothing",
      withRule({ any: [{ status: [200] }, { title: "^*$" }] }),
      'own rules: rule 2 "other", any[2].title: must contain some text',
    ],
    [
      "one of several patterns for nothing",
      withRule({ unless: [{ text: ["a", ""] }] }),
      'own rules: rule 2 "other", unless[1].text[2]: must contain some text',
    ],
    ["a pattern that is a number", withRule({ any: [{ title: 3 }] }), 'own rules: rule 2 "other", any[1].title: '],
    ["a long pattern", withRule({ any: [{ title: "x".repeat(201) }] }), 'rule 2 "other", any[1].title: '],
    [
      "a wrong status",
      withRule({ any: [{ status: ["403"] }] }),
      "any[1].status[1]: must be a status such as 403 or 5xx",
    ],
    [
      "a header in capitals",
      withRule({ any: [{ header: { name: "X" } }] }),
      "any[1].header.name: must be in lower case",
    ],
    ["an unknown verdict", withRule({ verdict: "maybe" }), 'own rules: rule 2 "other", verdict: '],
    ["a verdict without a reason", withRule({ reason: undefined }), 'rule 2 "other": needs both verdict and reason'],
    ["neither verdict nor notes", withRule({ reason: undefined, verdict: undefined }), "needs a verdict or notes"],
    ["an unknown reason", withRule({ reason: "bad" }), 'rule 2 "other", reason: "bad" is not described under reasons'],
    ["a reason of JavaScript", withRule({ reason: "constructor" }), '"constructor" is not described under reasons'],
    ["an unknown note", withRule({ notes: ["bad"] }), 'rule 2 "other", notes: "bad" is not described under notes'],
    ["a name twice", withRule({ name: "mine" }), 'own rules: rule 2 "mine", name: another rule has it'],
    ["a built-in name", withRule({ name: "ordinary" }), 'own rules: rule 2 "ordinary", name: another rule has it'],
    ["a rule without a name", withRule({ name: undefined }), "own rules: rule 2, name: "],
    [
      "a built-in reason anew",
      { version: 1, rules: [], reasons: { denied: "x" } },
      "reasons.denied: is built in already",
    ],
    ["a note of two lines", { version: 1, rules: [], notes: { a: "x\ny" } }, "own rules: notes.a: must be one line"],
    ["too many rules", { version: 1, rules: Array(301).fill(rule) }, "own rules: rules: Too big"],
    [
      "too many patterns",
      withRule({ any: Array(11).fill({ text: Array(100).fill("x") }) }),
      "own rules: 1100 patterns, more than 1000",
    ],
  ])("%s", (_, own, message) => {
    expect(() => read(own)).toThrow(message);
  });
});

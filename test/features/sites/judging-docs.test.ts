/** What docs/judging.md tells administrators works. */
import { expect, test } from "vitest";
import { createJudge } from "../../../src/features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "../../../src/features/sites/judge/read-rules.ts";
import { type Target, targetOf } from "../../../src/features/sites/rules/target.ts";
import type { Visit } from "../../../src/features/sites/visit/visit.ts";
import { docExamples } from "../../support/doc-examples.ts";

const [own = ""] = docExamples("judging.md", "yaml");
const rules = readJudgeRules({ builtIn: builtInRules, own });
const [withOwn, without] = [createJudge(rules), createJudge(readJudgeRules({ builtIn: builtInRules }))];

const visit = (seen: Partial<Visit>): Visit => ({
  status: 200,
  headers: {},
  url: "https://www.site.example/",
  redirects: [],
  title: "",
  text: "The boats left the harbour before noon.",
  markup: "",
  frames: [],
  isBlank: undefined,
  error: undefined,
  ...seen,
});

const site = targetOf("https://www.site.example/") as Target;
const cards = targetOf("https://cards.example/help") as Target;

// LOOKUP-55
test("the example of an administrator's rules decides before the built-in ones", () => {
  const gate = visit({ headers: { "x-gate-decision": "deny" } });
  expect(without(gate, site).verdict).toBe("accessed");
  expect(withOwn(gate, site)).toMatchObject({ verdict: "blocked", reason: "company_gate", rule: "company-gate" });
  const login = visit({ title: "Gate check", markup: '<input type="password">' });
  expect(withOwn(login, site)).toMatchObject({ verdict: "accessed", rule: "ordinary" });
  const help = visit({
    url: "https://cards.example/help",
    text: "You have been blocked? You can order a new card here.",
  });
  expect(without(help, cards)).toMatchObject({ verdict: "blocked", reason: "soft_block" });
  expect(withOwn(help, cards)).toMatchObject({ verdict: "accessed", rule: "cards-help" });
});

// LOOKUP-54
test("a note is one fixed sentence, whatever the page says", () => {
  const { verdict, notes } = withOwn(
    visit({ text: "Choose your <b>nearest</b> store before you see what is in stock." }),
    site,
  );
  expect({ verdict, notes }).toEqual({ verdict: "accessed", notes: ["choose_store"] });
  expect(rules.notes).toMatchObject({
    choose_store: "**Store**: a dialog asks for a store first; choose one before you read prices.",
    login_wall: expect.any(String),
  });
  for (const sentence of Object.values(rules.notes)) expect(sentence).toMatch(/^\*\*[A-Z][A-Za-z ]+\*\*: .+\.$/);
});

/** Makes the tables of docs/judging.md from the judge's built-in rules (src/features/sites/judge/rules.yaml). */
import { builtInRules, readJudgeRules } from "../src/features/sites/judge/read-rules.ts";
import { generateParts, table } from "./marked-part.ts";

const rules = readJudgeRules({ builtIn: builtInRules });

const code = (names: readonly string[]): string => [...new Set(names)].map((name) => `\`${name}\``).join(", ");

const reasonRows = Object.entries(rules.reasons).map(([reason, text]) => {
  const from = rules.rules.filter((rule) => rule.reason === reason);
  const [verdict = "inconclusive"] = from.map((rule) => rule.verdict);
  return [`\`${reason}\``, verdict, text, code(from.map(({ name }) => name)) || "none"];
});

const noteRows = Object.entries(rules.notes).map(([note, text]) => [`\`${note}\``, text]);

/** Writes the tables, or with `check` compares them. Returns what it wrote. Throws an Error when one is stale. */
export const generateJudging = (options: { check: boolean }): Promise<string> =>
  generateParts(
    "docs/judging.md",
    {
      reasons: table(["Reason", "Verdict", "What it means", "Rules"], reasonRows),
      notes: table(["Note", "Sentence"], noteRows),
    },
    options,
  );

/**
 * A hostile page can't keep the process busy by the patterns of rules (src/features/sites/judge/pattern.ts says why).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Runs in a process of its own: a judge that hangs would hang this one for ever. */
const program = `
import { targetOf } from "./src/features/sites/rules/target.ts";
import { createJudge } from "./src/features/sites/judge/judge.ts";
import { builtInRules, readJudgeRules } from "./src/features/sites/judge/read-rules.ts";

const n = 65536;
const texts = ["a", "ab", " ", "\\n\\u00a0", "<a ", "\\u2026", "\\u0130", "just a momen", "verify you are ", "*", "^$"].map((piece) =>
  piece.repeat(Math.ceil(n / piece.length)).slice(0, n),
);
const patterns = ["a*".repeat(99) + "b", "*a".repeat(99) + "b$", "a".repeat(199) + "b", "b" + "a".repeat(199), "ab*".repeat(60) + "c"];
const any = ["title", "text", "markup", "frame", "url", "redirect"].map((field) => ({ [field]: patterns }));
const own = JSON.stringify({ version: 1, rules: [{ name: "slow", any, verdict: "blocked", reason: "denied" }] });
const judge = createJudge(readJudgeRules({ builtIn: builtInRules, own }));
const target = targetOf("https://www.site.example/");
for (const text of texts) {
  const url = "https://www.site.example/" + text.slice(0, 2000);
  const urls = Array(64).fill(url);
  const visit = { status: 200, headers: { "x-a": text }, url, redirects: urls, title: text.slice(0, 2048), text, markup: text, frames: urls };
  console.log(judge({ ...visit, isBlank: undefined, error: undefined }, target).verdict);
}
`;

// LOOKUP-58
test("the slowest patterns and pages that are known are judged at all", async () => {
  const root = new URL("../../..", import.meta.url);
  const args = ["--input-type=module-typescript", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 50_000 });
  expect(stdout.trim().split("\n")).toHaveLength(11);
});

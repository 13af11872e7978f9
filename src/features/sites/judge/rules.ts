/** Rules of the judge: data that is read from YAML, so that an administrator can add some without code (LOOKUP-55). */
import { z } from "zod";
import { verdicts } from "../analyses/site-analysis.ts";
import { isPattern, maxPatternLength } from "./pattern.ts";

const pattern = z
  .string()
  .max(maxPatternLength)
  .refine(isPattern, "must contain some text besides ^, * and $")
  .describe("Plain text; * stands for any text, ^ for the beginning, $ for the end. Capitals do not matter.");

/** One of them must hold. */
const patterns = z.union([pattern, z.array(pattern).min(1).max(100)]);
export type Patterns = z.infer<typeof patterns>;

const status = z
  .union([z.int().min(100).max(999), z.string().regex(/^[1-9]xx$/, "must be a status such as 403 or 5xx")])
  .describe("A status of the answer, e.g. 403 or 5xx.");

const Condition = z
  .strictObject({
    status: z.array(status).min(1).max(50).optional(),
    header: z
      .strictObject({ name: z.string().regex(/^[a-z0-9-]+$/, "must be in lower case"), value: patterns.optional() })
      .optional()
      .describe("A header of the answer; without a value any will do."),
    title: patterns.optional(),
    text: patterns.optional().describe("The text that the page shows."),
    markup: patterns.optional().describe("The page's HTML, with its scripts."),
    frame: patterns.optional().describe("The URL of a frame in the page."),
    url: patterns.optional().describe("The URL at which the page ended."),
    redirect: patterns.optional().describe("A URL that led there."),
    error: patterns.optional().describe("Why no page came, in Chromium's words or ours."),
    textBelow: z.int().min(1).optional().describe("The page shows fewer characters of text."),
    linksBelow: z.int().min(1).optional().describe("The page has fewer links."),
    blank: z.boolean().optional().describe("Whether the screenshot has one colour only."),
    otherDomain: z.boolean().optional().describe("Whether the page ended under another registrable domain."),
  })
  .refine((condition) => Object.keys(condition).length > 0, "must ask for something");
export type Condition = z.infer<typeof Condition>;

/** The form of a reason and of a note. */
const word = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, "must be a word such as login_wall");

const sentence = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\r\n]*$/, "must be one line");

const Rule = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be a name such as my-rule"),
    any: z.array(Condition).min(1).max(50).describe("The rule holds when one of these does."),
    unless: z.array(Condition).min(1).max(50).optional().describe("And when none of these does."),
    verdict: z.enum(verdicts).optional().describe("The first rule with a verdict decides."),
    reason: word.optional().describe("The reason of the verdict, for programs."),
    notes: z.array(word).min(1).max(10).optional().describe("What to know of the site, where the rule holds."),
    page: z.string().max(200).optional().describe("The test page that the rule was written from."),
  })
  .refine(({ verdict, notes }) => verdict !== undefined || notes !== undefined, "needs a verdict or notes")
  .refine(({ verdict, reason }) => (verdict === undefined) === (reason === undefined), "needs both verdict and reason");
export type Rule = z.infer<typeof Rule>;

/** A file of rules, on its own. What it names and does not describe is checked when files are joined. */
export const RulesFile = z.strictObject({
  version: z.int().min(1).describe("Raised with each change of the file; trials keep it."),
  reasons: z.record(word, sentence).default({}).describe("What each reason means."),
  notes: z.record(word, sentence).default({}).describe("What guidance says for each note, in Markdown."),
  rules: z.array(Rule).max(300).describe("In their order."),
});
export type RulesFile = z.infer<typeof RulesFile>;

/**
 * The rules of a judge. `versions`: of the files that they are from, so that a trial can say what judged it; `own` is
 * the administrator's.
 */
export type JudgeRules = Omit<RulesFile, "version"> & { versions: { builtIn: number; own: number | undefined } };

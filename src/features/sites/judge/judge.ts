/**
 * What came of a visit: whether it reached the site, why, and what the next visitor should know (LOOKUP-51 to
 * LOOKUP-54). Pure.
 */

import type { Verdict } from "../analyses/site-analysis.ts";
import { type Target, targetOf } from "../rules/target.ts";
import { maxSeenText, type Visit } from "../visit/visit.ts";
import { compilePattern, fold } from "./pattern.ts";
import type { Condition, JudgeRules, Patterns, Rule } from "./rules.ts";

/**
 * `rule`: the name of the rule that decided; undefined where none did. `notes`: names, of all rules that hold, each
 * once.
 */
export type Judgement = { verdict: Verdict; reason: string; rule: string | undefined; notes: string[] };

/** The judgement where no rule decides. */
const undecided = { verdict: "inconclusive", reason: "no_rule", rule: undefined } as const;

/** A visit as conditions look at it: texts folded once for all of them. */
type Seen = {
  status: number | undefined;
  headers: ReadonlyMap<string, string>;
  title: string;
  text: string;
  markup: string;
  frames: string[];
  url: string;
  redirects: string[];
  error: string | undefined;
  links: number;
  isBlank: boolean | undefined;
  isOtherDomain: boolean;
};

/** What is no public URL (an error page of the browser, an address inside) belongs to no target. */
const isOtherDomain = (url: string, { domain }: Target): boolean => {
  const found = targetOf(url);
  return typeof found === "string" || found.domain !== domain;
};

const lookAt = (visit: Visit, target: Target): Seen => {
  const markup = visit.markup.slice(0, maxSeenText);
  return {
    status: visit.status,
    headers: new Map(Object.entries(visit.headers).map(([name, value]) => [name, fold(value)])),
    title: fold(visit.title),
    text: fold(visit.text.slice(0, maxSeenText)),
    markup: fold(markup),
    frames: visit.frames.map(fold),
    url: fold(visit.url),
    redirects: visit.redirects.map(fold),
    error: visit.error && fold(visit.error),
    links: markup.split(/<a\s/i).length - 1,
    isBlank: visit.isBlank,
    isOtherDomain: isOtherDomain(visit.url, target),
  };
};

type Test = (seen: Seen) => boolean;

const holdsStatus =
  (wanted: readonly (number | string)[]): Test =>
  ({ status }) =>
    status !== undefined && wanted.some((one) => one === status || one === `${Math.floor(status / 100)}xx`);

/** `find`: the texts to look at; where there is none, nothing holds. */
const holdsText = (wanted: Patterns, find: (seen: Seen) => readonly string[]): Test => {
  const tests = [wanted].flat().map(compilePattern);
  return (seen) => find(seen).some((text) => tests.some((holds) => holds(text)));
};

/** A missing header is none, not an empty one. */
const holdsHeader = ({ name, value }: NonNullable<Condition["header"]>): Test =>
  value === undefined
    ? ({ headers }) => headers.has(name)
    : holdsText(value, ({ headers }) => [headers.get(name) ?? []].flat());

/** For each key of a condition the test that it asks for. */
const testsOf: { [Key in keyof Condition]-?: (wanted: NonNullable<Condition[Key]>) => Test } = {
  status: holdsStatus,
  header: holdsHeader,
  title: (wanted) => holdsText(wanted, ({ title }) => [title]),
  text: (wanted) => holdsText(wanted, ({ text }) => [text]),
  markup: (wanted) => holdsText(wanted, ({ markup }) => [markup]),
  frame: (wanted) => holdsText(wanted, ({ frames }) => frames),
  url: (wanted) => holdsText(wanted, ({ url }) => [url]),
  redirect: (wanted) => holdsText(wanted, ({ redirects }) => redirects),
  error: (wanted) => holdsText(wanted, ({ error }) => [error ?? []].flat()),
  textBelow:
    (limit) =>
    ({ text }) =>
      text.length < limit,
  linksBelow:
    (limit) =>
    ({ links }) =>
      links < limit,
  blank:
    (wanted) =>
    ({ isBlank }) =>
      isBlank === wanted,
  otherDomain:
    (wanted) =>
    ({ isOtherDomain: isOther }) =>
      isOther === wanted,
};

/** The least work first: most conditions fail by their status or their length, before any text is searched. */
const cheapFirst: readonly (keyof Condition)[] = [
  "status",
  "error",
  "otherDomain",
  "blank",
  "textBelow",
  "linksBelow",
  "header",
  "title",
  "url",
  "redirect",
  "frame",
  "text",
  "markup",
];

/** All that is given must hold. */
const compileCondition = (condition: Condition): Test => {
  const tests = cheapFirst.flatMap((key) => {
    const wanted = condition[key];
    return wanted === undefined ? [] : [testsOf[key](wanted as never)];
  });
  return (seen) => tests.every((holds) => holds(seen));
};

const compileRule = ({ any, unless = [] }: Rule): Test => {
  const [wanted, unwanted] = [any.map(compileCondition), unless.map(compileCondition)];
  return (seen) => wanted.some((holds) => holds(seen)) && !unwanted.some((holds) => holds(seen));
};

/**
 * The judge for these rules, in their order: the first that holds and has a verdict decides. Patterns are compiled
 * once. Judging takes time in proportion to the patterns times the text, whatever a page contains (pattern.ts).
 */
export const createJudge = ({ rules }: JudgeRules): ((visit: Visit, target: Target) => Judgement) => {
  const compiled = rules.map((rule) => ({ rule, holds: compileRule(rule) }));
  return (visit, target) => {
    const seen = lookAt(visit, target);
    const holding = compiled.filter(({ holds }) => holds(seen)).map(({ rule }) => rule);
    const notes = [...new Set(holding.flatMap((rule) => rule.notes ?? []))];
    for (const { verdict, reason, name } of holding)
      if (verdict !== undefined && reason !== undefined) return { verdict, reason, rule: name, notes };
    return { ...undecided, notes };
  };
};

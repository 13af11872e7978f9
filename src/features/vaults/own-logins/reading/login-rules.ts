/** The rules by which logins that the service does itself read pages: login-rules.yaml, as functions. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

const Words = z.array(z.string().min(1)).default([]);

const Rules = z.strictObject({
  fields: z.array(
    z.strictObject({
      kind: z.enum(["ignored", "code", "password", "identifier"]),
      types: z.array(z.string()).default([]),
      autocomplete: z.array(z.string()).default([]),
      words: Words,
    }),
  ),
  values: z.strictObject({ identifier: Words, password: Words }),
  send: Words,
  never: Words,
  remember: Words,
  between: z.array(z.strictObject({ text: z.string(), press: Words })),
  choose: Words,
  factors: z.array(z.strictObject({ type: z.enum(["totp", "sms", "call", "email", "push", "passkey"]), words: Words })),
  sso: z.strictObject({
    before: Words,
    after: Words,
    others: Words,
    providers: z.array(z.strictObject({ name: z.string(), words: Words })),
  }),
  captcha: z.strictObject({ embeds: Words, leastWidth: z.int(), leastHeight: z.int() }),
  push: Words,
  locked: Words,
  refused: Words,
  inside: Words,
  loading: Words,
});

/** Whether a text has one of some words. */
type HasWords = (text: string) => boolean;

const matcher = (words: readonly string[]): HasWords => {
  const patterns = words.map((word) => new RegExp(word, "iu"));
  return (text) => patterns.some((pattern) => pattern.test(text));
};

const read = () => {
  const text = readFileSync(new URL("login-rules.yaml", import.meta.url), "utf8");
  const { fields, values, between, factors, captcha, sso, ...words } = Rules.parse(parse(text));
  return {
    fields: fields.map((rule) => ({ ...rule, hasWords: matcher(rule.words) })),
    /** Each pattern of a value's name, in the order of preference. */
    values: {
      identifier: values.identifier.map((word) => matcher([word])),
      password: values.password.map((word) => matcher([word])),
    },
    between: between.map((rule) => ({ fits: matcher([rule.text]), press: matcher(rule.press) })),
    choose: matcher(words.choose),
    factors: factors.map(({ type, words: of }) => ({ type, fits: matcher(of) })),
    sso: {
      before: sso.before.map((word) => new RegExp(word, "iu")),
      after: sso.after.map((word) => new RegExp(word, "iu")),
      isOther: matcher(sso.others),
      providers: sso.providers.map(({ name, words: of }) => ({ name, fits: matcher(of) })),
    },
    captcha: { ...captcha, fits: matcher(captcha.embeds) },
    send: matcher(words.send),
    never: matcher(words.never),
    remember: matcher(words.remember),
    push: matcher(words.push),
    locked: matcher(words.locked),
    refused: matcher(words.refused),
    inside: matcher(words.inside),
    loading: matcher(words.loading),
  };
};

/** The rules, read when the program starts. */
export const loginRules = read();

/** A way to prove who one is. */
export type FactorType = (typeof loginRules.factors)[number]["type"];

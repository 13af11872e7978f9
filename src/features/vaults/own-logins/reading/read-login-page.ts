/** What a page is to a login: a form with fields, a choice, something for a person, or the inside of the site; pure. */
import type { Place, SeenFrame } from "../../fill/page-survey.ts";
import { type FactorType, loginRules } from "./login-rules.ts";
import { type SsoButton, ssoButtonsOf, ssoProviderOf } from "./sso-buttons.ts";

/** What a field is for. */
type FieldKind = "identifier" | "password" | "code" | "text";

export type LoginField = {
  place: Place;
  kind: FieldKind;
  /** The name of the value that belongs into it, as a credential would store it. */
  ref: string;
  label: string;
  isRequired: boolean;
  isEmpty: boolean;
  isEmail: boolean;
  inputMode: string;
  group: number;
};

export type Pressable = { place: Place; kind: SeenFrame["pressables"][number]["kind"]; text: string };

export type LoginChoice = Pressable & { type: FactorType };

/** `origin`: of the frame that has the form. */
export type LoginForm = {
  fields: LoginField[];
  origin: string;
  send: Pressable | undefined;
  /** Whether the form is at work: what sends it is disabled, or something turns. */
  isBusy: boolean;
  remember: Pressable | undefined;
};

export type LoginPage = {
  url: string;
  form: LoginForm | undefined;
  choices: LoginChoice[];
  /** The ways to log in by another site, beside the form or alone. */
  ssoButtons: SsoButton[];
  /** What to press on a page between two steps. */
  between: Pressable | undefined;
  hasCaptcha: boolean;
  asksForPush: boolean;
  isLoading: boolean;
  /** Whether something shows that the site has let in. */
  isInside: boolean;
  /** The lines that say that a login was refused, and those that say that the account is locked. */
  refusals: string[];
  locks: string[];
  isBlank: boolean;
  /** Changes with everything that a person could see change. */
  signature: string;
};

type SeenField = SeenFrame["fields"][number];

const mostLines = 400;

const linesOf = (frames: readonly SeenFrame[]): string[] =>
  frames
    .flatMap(({ text }) => text.split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && line.length <= 300)
    .slice(0, mostLines);

const kindOf = ({ tag, type, name, id, autocomplete, label }: SeenField): FieldKind | "ignored" => {
  if (tag === "select") return "text";
  const tokens = autocomplete.split(" ");
  const words = `${name}\n${id}\n${label}`.replace(/[_-]+/g, " ");
  const rule = loginRules.fields.find(
    ({ types, autocomplete: known, hasWords }) =>
      types.includes(type) || known.some((one) => tokens.includes(one)) || hasWords(words),
  );
  // A password whose field says something else, as "account", is one.
  return rule?.kind === "identifier" && type === "password" ? "password" : (rule?.kind ?? "text");
};

const usualRefs = { identifier: "username", password: "password", code: "code" } as const;

/** A name for the value of a field that is for something else. */
const ownRef = ({ name, id, label }: SeenField, index: number): string =>
  [name, id, label].map((text) => text.replace(/[^\w.-]+/g, "_").slice(0, 64)).find((text) => /\w/.test(text)) ??
  `field_${index}`;

const fieldOf = (seen: SeenField, place: Place): LoginField[] => {
  const kind = kindOf(seen);
  if (kind === "ignored") return [];
  const { type, label, name, id, isRequired, isEmpty, inputMode, group } = seen;
  const isEmail = type === "email" || /e-?mail/i.test(`${name} ${id} ${label}`);
  const ref =
    kind === "text" ? ownRef(seen, place.index) : kind === "identifier" && isEmail ? "email" : usualRefs[kind];
  return [{ place, kind, ref, label: label || name || ref, isRequired, isEmpty, isEmail, inputMode, group }];
};

/** The boxes of one code, each for one character, count as one field: a fill spreads the code over them. */
const withoutFurtherBoxes = (fields: LoginField[], seen: readonly SeenField[]): LoginField[] => {
  const isBox = ({ place }: LoginField): boolean => {
    const field = seen[place.index];
    return field?.maxLength === 1 && ["text", "tel", "number", "password"].includes(field.type);
  };
  const boxes = fields.filter(isBox);
  if (boxes.length < 4) return fields;
  const [first] = boxes;
  return fields.flatMap((field): LoginField[] => {
    if (!isBox(field)) return [field];
    return field === first ? [{ ...field, kind: "code", ref: "code" }] : [];
  });
};

/** Names an unknown text field right before a password the identifier: sites without any hints have it there. */
const withIdentifier = (fields: LoginField[]): LoginField[] => {
  const password = fields.findIndex(({ kind }) => kind === "password");
  const before = fields[password - 1];
  const isKnown = fields.some(({ kind }) => kind === "identifier");
  if (password < 1 || isKnown || before?.kind !== "text") return fields;
  return fields.map((field) => (field === before ? { ...field, kind: "identifier", ref: "username" } : field));
};

const sendOf = (seen: SeenFrame, frame: number, group: number): (Pressable & { isDisabled: boolean }) | undefined => {
  const all = seen.pressables.map((one, index) => ({ ...one, place: { frame, index } }));
  const near = all.filter(
    ({ group: of, text }) => of === group && !loginRules.never(text) && ssoProviderOf(text) === undefined,
  );
  const wanted = near.filter(({ text, kind }) => loginRules.send(text) && kind !== "radio" && kind !== "checkbox");
  return (
    wanted.find(({ kind }) => kind === "submit") ??
    wanted.find(({ kind }) => kind === "button") ??
    near.find(({ kind }) => kind === "submit") ??
    wanted.find(({ kind }) => kind === "link")
  );
};

/** The fields of the form that the login is in; undefined when the frame has none. */
const formOf = (seen: SeenFrame, frame: number): LoginForm | undefined => {
  const all = seen.fields.flatMap((field, index) => fieldOf(field, { frame, index }));
  const fields = withIdentifier(withoutFurtherBoxes(all, seen.fields));
  const main =
    fields.find(({ kind }) => kind === "password") ??
    fields.find(({ kind }) => kind === "code") ??
    fields.find(({ kind }) => kind === "identifier");
  if (!main) return undefined;
  const send = sendOf(seen, frame, main.group);
  // An address alone may be for letters of news.
  if (main.kind === "identifier" && send && !loginRules.send(send.text)) return undefined;
  const remember = seen.pressables.findIndex(
    ({ kind, text, isChecked, group }) =>
      kind === "checkbox" && group === main.group && !isChecked && loginRules.remember(text),
  );
  return {
    fields: fields.filter(({ group }) => group === main.group),
    origin: seen.origin,
    send,
    isBusy: seen.isBusy || send?.isDisabled === true,
    remember: remember < 0 ? undefined : { place: { frame, index: remember }, kind: "checkbox", text: "" },
  };
};

/** A page may list as many as it likes. */
const mostChoices = 20;

const choicesOf = (frames: readonly SeenFrame[]): LoginChoice[] =>
  frames
    .flatMap(({ pressables }, frame) =>
      pressables.flatMap(({ kind, text, isDisabled }, index): LoginChoice[] => {
        const factor = loginRules.factors.find(({ fits }) => fits(text));
        const isChoice = factor && !isDisabled && kind !== "checkbox" && text.length <= 120;
        return isChoice ? [{ place: { frame, index }, kind, text, type: factor.type }] : [];
      }),
    )
    .slice(0, mostChoices);

const betweenOf = (frames: readonly SeenFrame[], text: string): Pressable | undefined => {
  const rule = loginRules.between.find(({ fits }) => fits(text));
  if (!rule) return undefined;
  return frames
    .flatMap(({ pressables }, frame) => pressables.map((one, index) => ({ ...one, place: { frame, index } })))
    .find((one) => !one.isDisabled && rule.press(one.text));
};

const hasCaptcha = (frames: readonly SeenFrame[]): boolean => {
  const { fits, leastWidth, leastHeight } = loginRules.captcha;
  return frames.some(({ embeds }) =>
    embeds.some(({ what, width, height }) => width >= leastWidth && height >= leastHeight && fits(what)),
  );
};

const signatureOf = (frames: readonly SeenFrame[]): string =>
  JSON.stringify(
    frames.map(({ url, text, isBusy, fields, pressables }) => [
      url,
      text.slice(0, 2000),
      isBusy,
      fields.map(({ name, id, type, isEmpty }) => [name, id, type, isEmpty]),
      pressables.map(({ text: words, isDisabled }) => [words, isDisabled]),
    ]),
  );

/** Of several forms the one that is furthest in the login, of those that may be filled if there are any. */
const preferred = (all: LoginForm[], isAllowed: (origin: string) => boolean): LoginForm | undefined => {
  const allowed = all.filter(({ origin }) => isAllowed(origin));
  const forms = allowed.length > 0 ? allowed : all;
  const has = (kind: FieldKind) => forms.find(({ fields }) => fields.some((field) => field.kind === kind));
  return has("password") ?? has("code") ?? has("identifier");
};

/** `frames`: what the page says of itself, the main frame first. `isAllowed`: whether an origin may be filled. */
export const readLoginPage = (frames: readonly SeenFrame[], isAllowed: (origin: string) => boolean): LoginPage => {
  const lines = linesOf(frames);
  const text = lines.join("\n");
  const form = preferred(
    frames.flatMap((seen, frame) => formOf(seen, frame) ?? []),
    isAllowed,
  );
  const isInside = frames.some(({ pressables }) => pressables.some((one) => loginRules.inside(one.text)));
  const hasSecret = form?.fields.some(({ kind }) => kind !== "identifier") === true;
  return {
    url: frames[0]?.url ?? "",
    // A site that has let in may ask for an address somewhere.
    form: isInside && !hasSecret ? undefined : form,
    choices: form || !loginRules.choose(text) ? [] : choicesOf(frames),
    ssoButtons: ssoButtonsOf(frames, isAllowed),
    between: form ? undefined : betweenOf(frames, text),
    hasCaptcha: hasCaptcha(frames),
    asksForPush: !form && loginRules.push(text),
    isLoading:
      frames[0]?.isLoading === true ||
      frames.some(({ isBusy }) => isBusy) ||
      (lines.length < 4 && lines.some(loginRules.loading)),
    isInside: isInside && !hasSecret,
    refusals: lines.filter(loginRules.refused),
    locks: lines.filter(loginRules.locked),
    isBlank: lines.length === 0 && !form,
    signature: signatureOf(frames),
  };
};

/**
 * What a login does next, from what its page shows and what it has done so far; pure but for its memory.
 *
 *   page still changes ──► wait
 *   a form ──values are missing or refused──► ask      ──all are there──► type, then send
 *   a captcha, a push, nothing known ──► person
 *   a choice ──► the authenticator app if its secret is stored, else ask
 *   let in ──► done     locked out ──► fail
 */
import { type LoginMemory, pageOf } from "./login-memory.ts";
import { loginRules } from "./login-rules.ts";
import type { LoginChoice, LoginField, LoginForm, LoginPage, Pressable } from "./read-login-page.ts";
import type { SsoButton } from "./sso-buttons.ts";

/** Where the value of a field comes from. */
type ValueSource = "given" | "stored";

/** `isOptional`: the value that was typed may be right. */
export type MissingField = LoginField & { reason: "missing" | "rejected"; isOptional: boolean };

export type PersonIsNeeded = "captcha" | "push" | "unknown";

export type Step =
  | { do: "wait" }
  | { do: "type"; fields: LoginField[]; form: LoginForm }
  | { do: "press"; what: Pressable }
  | { do: "sso"; what: SsoButton }
  | { do: "send"; form: LoginForm }
  | { do: "ask"; fields: MissingField[]; choices: (LoginChoice | SsoButton)[] }
  | { do: "person"; why: PersonIsNeeded }
  | { do: "fail"; code: "account_locked" | "origin_not_allowed"; origin?: string }
  | { do: "done" };

/** A page must be still for this long before anything is concluded from it, ms. */
const stillMs = 600;

/** How long a page may take that gives no answer to what was sent, or shows nothing that is known, ms. */
const patienceMs = 10_000;

/** How long a page without a sign of the inside must be still to count as one: at another address, or at the same, ms. */
const movedMs = 1500;
const unmovedMs = 4000;

type StepInput = {
  page: LoginPage;
  memory: LoginMemory;
  nowMs: number;
  /** Whether there is a value for a field, and where from. */
  sourceOf(field: LoginField): ValueSource | undefined;
  hasTotp: boolean;
  /** The provider of single sign-on that the stored login is for. */
  ssoProvider: string | undefined;
  isAllowed(origin: string): boolean;
  /** Whether an origin is one of the connection's own domain, and not only one where its login may be typed. */
  isHome(origin: string): boolean;
};

const isNew = (lines: readonly string[], { sent }: LoginMemory): boolean =>
  lines.some((line) => sent?.lines.has(line) !== true);

/** Whether the form is the answer to what was sent, and not still that form. */
const isRefused = ({ page, memory, nowMs }: StepInput, form: LoginForm): boolean => {
  const { sent } = memory;
  if (!sent) return false;
  if (isNew(page.refusals, memory) || nowMs - sent.atMs >= patienceMs) return true;
  return form.fields.some(({ ref, kind, isEmpty }) => kind !== "identifier" && memory.typed.has(ref) && isEmpty);
};

/** Whether the form shows only fields that were typed already. */
const isSameForm = ({ memory }: StepInput, { fields }: LoginForm): boolean => {
  const asked = fields.filter(({ kind }) => kind !== "text");
  const secrets = asked.filter(({ kind }) => kind !== "identifier");
  return (secrets.length > 0 ? secrets : asked).every(({ ref }) => memory.typed.has(ref));
};

const missingOf = (input: StepInput, fields: readonly LoginField[]): MissingField[] =>
  fields.flatMap((field) => {
    const isRejected = input.memory.rejected.has(field.ref);
    const source = input.sourceOf(field);
    if (source === "given" || (source === "stored" && !isRejected)) return [];
    return [{ ...field, reason: isRejected ? "rejected" : "missing", isOptional: false }];
  });

/** What a site refuses is its password or code rather than its user, if the form has one. */
const noteRefusal = (memory: LoginMemory, { fields }: LoginForm): void => {
  const typed = fields.filter(({ kind, ref }) => kind !== "text" && memory.typed.has(ref));
  const secrets = typed.filter(({ kind }) => kind !== "identifier");
  for (const { ref } of secrets.length > 0 ? secrets : typed) memory.rejected.add(ref);
};

/** With a refused password, the user may be wrong too. */
const withUser = (missing: MissingField[], { memory }: StepInput, { fields }: LoginForm): MissingField[] => {
  const isRefused = missing.some(({ kind, reason }) => kind === "password" && reason === "rejected");
  const user = fields.find(({ kind, ref }) => kind === "identifier" && memory.typed.has(ref));
  if (!isRefused || !user || missing.some(({ ref }) => ref === user.ref)) return missing;
  return [{ ...user, reason: "rejected", isOptional: true }, ...missing];
};

const formStep = (input: StepInput, form: LoginForm): Step => {
  const { page, memory, nowMs } = input;
  const sentMs = memory.sent ? nowMs - memory.sent.atMs : Infinity;
  const isUnchanged = memory.unsent.size === 0 && page.signature === memory.sent?.signature;
  if ((form.isBusy || isUnchanged) && sentMs < patienceMs) return { do: "wait" };
  if (!input.isAllowed(form.origin)) return { do: "fail", code: "origin_not_allowed", origin: form.origin };
  const isTyped = memory.unsent.size > 0 && form.fields.every(({ ref, isEmpty }) => !memory.typed.has(ref) || !isEmpty);
  if (memory.sent && isSameForm(input, form) && !(isTyped && !isNew(page.refusals, memory))) {
    if (!isRefused(input, form)) return { do: "wait" };
    noteRefusal(memory, form);
  }
  const isDone = ({ ref, isEmpty }: LoginField): boolean =>
    memory.typed.has(ref) && !isEmpty && !memory.rejected.has(ref);
  const needed = form.fields.filter(
    (field) =>
      !isDone(field) && (field.kind !== "text" || (field.isEmpty && (field.isRequired || input.sourceOf(field)))),
  );
  const missing = missingOf(input, needed);
  if (missing.length > 0) return { do: "ask", fields: withUser(missing, input, form), choices: page.ssoButtons };
  const typed = needed.filter((field) => input.sourceOf(field));
  if (typed.length > 0) return { do: "type", fields: typed, form };
  return page.hasCaptcha ? { do: "person", why: "captcha" } : { do: "send", form };
};

const choiceStep = ({ page, memory, hasTotp }: StepInput): Step => {
  const app = page.choices.find(({ type }) => type === "totp");
  if (app && hasTotp && !memory.hasChosen) return { do: "press", what: app };
  return { do: "ask", fields: [], choices: page.choices };
};

/**
 * The step at a page with buttons of single sign-on; undefined when its form is to be used. The button of the stored login's
 * provider is pressed by itself, once, and the login is not typed into the form beside it.
 */
const ssoStep = ({ page, memory, nowMs, ssoProvider }: StepInput): Step | undefined => {
  const wanted = page.ssoButtons.find(({ provider }) => provider === ssoProvider?.toLowerCase());
  if (wanted && memory.ssoProvider === undefined) return { do: "sso", what: wanted };
  if (page.ssoButtons.length === 0 || (page.form && !wanted)) return undefined;
  const isUnderWay = memory.sent !== undefined && nowMs - memory.sent.atMs < patienceMs;
  return isUnderWay ? { do: "wait" } : { do: "ask", fields: [], choices: page.ssoButtons };
};

/** A login of a provider of single sign-on is not for the site's own form, but for the user's name that leads there. */
const withoutSecretsAtHome = (input: StepInput, { origin }: LoginForm): StepInput => {
  const { ssoProvider, memory, isHome, sourceOf } = input;
  if (ssoProvider === undefined || memory.ssoProvider !== undefined || !isHome(origin)) return input;
  const isSecret = ({ kind }: LoginField): boolean => kind === "password" || kind === "code";
  return {
    ...input,
    sourceOf(field) {
      const source = sourceOf(field);
      return source === "stored" && isSecret(field) ? undefined : source;
    },
  };
};

/** Whether the browser is at a provider of single sign-on: its inside is not that of the site. */
const isAway = ({ page, memory, isHome }: StepInput): boolean =>
  memory.ssoProvider !== undefined && !isHome(URL.parse(page.url)?.origin ?? "");

/** A page that shows no form and no sign of the inside. */
const plainStep = (input: StepInput): Step => {
  const { page, memory, nowMs } = input;
  const stillForMs = nowMs - memory.sinceMs;
  const isMoved = pageOf(page.url) !== memory.startPage;
  const isRefusal = isNew(page.refusals, memory);
  if (
    !isRefusal &&
    !page.isBlank &&
    !isAway(input) &&
    (memory.hasActed || isMoved) &&
    stillForMs >= (isMoved ? movedMs : unmovedMs)
  )
    return { do: "done" };
  return stillForMs >= patienceMs ? { do: "person", why: "unknown" } : { do: "wait" };
};

/** The step at a page that asks for something of a login, of which the first counts. */
const askedStep = (input: StepInput): Step => {
  const { page } = input;
  const sso = page.choices.length > 0 ? undefined : ssoStep(input);
  if (sso) return sso;
  if (page.form) return formStep(withoutSecretsAtHome(input, page.form), page.form);
  if (page.between) return { do: "press", what: page.between };
  if (page.choices.length > 0) return choiceStep(input);
  if (page.asksForPush) return { do: "person", why: "push" };
  return page.hasCaptcha ? { do: "person", why: "captcha" } : plainStep(input);
};

/** The next step; notes in the memory what the page shows. */
export const nextStep = (input: StepInput): Step => {
  const { page, memory, nowMs } = input;
  if (page.signature !== memory.signature) Object.assign(memory, { signature: page.signature, sinceMs: nowMs });
  const stillForMs = nowMs - memory.sinceMs;
  if (stillForMs < stillMs) return { do: "wait" };
  if ((page.isLoading || page.isBlank) && stillForMs < patienceMs) return { do: "wait" };
  if (page.locks.length > 0 && isNew(page.locks, memory) && (memory.sent || !page.form))
    return { do: "fail", code: "account_locked" };
  return page.isInside && !isAway(input) ? { do: "done" } : askedStep(input);
};

/** How the name of a stored value that fits a field is found. */
export const valueNameOf = (field: LoginField, names: readonly string[]): string | undefined => {
  const own = names.find((name) => name.toLowerCase() === field.ref.toLowerCase());
  if (own !== undefined || field.kind === "text" || field.kind === "code") return own;
  const patterns = loginRules.values[field.kind];
  // An address is no name of a user, and the other way round, where both are stored.
  const ordered =
    field.kind === "identifier" && !field.isEmail ? [...patterns.slice(1), ...patterns.slice(0, 1)] : patterns;
  for (const fits of ordered) {
    const name = names.find((one) => fits(one));
    if (name !== undefined) return name;
  }
  return undefined;
};

/**
 * Whether a page that was opened for a check shows that its profile is logged in; undefined when it does not say (yet).
 * `isOver`: whether there is no more time to wait.
 */
export const sessionSeen = (
  { page, memory, nowMs }: Pick<StepInput, "page" | "memory" | "nowMs">,
  openedUrl: string,
  isLoginPage: boolean,
): boolean | undefined => {
  if (page.signature !== memory.signature) Object.assign(memory, { signature: page.signature, sinceMs: nowMs });
  const stillForMs = nowMs - memory.sinceMs;
  if (stillForMs < stillMs || page.isLoading || page.isBlank) return undefined;
  if (page.form) return false;
  if (page.isInside) return true;
  if (page.ssoButtons.length > 0) return false;
  const isThere = pageOf(page.url) === pageOf(openedUrl);
  return isThere !== isLoginPage && stillForMs >= movedMs ? true : undefined;
};

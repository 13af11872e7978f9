/** Carries out what is decided of a page, and what a caller has handed in. */
import type { PageSurvey } from "../fill/page-survey.ts";
import { ask, needPerson } from "./ask.ts";
import { type Drive, write } from "./drive.ts";
import { Ended, failed } from "./outcome.ts";
import { noteActed, pageOf } from "./reading/login-memory.ts";
import { loginRules } from "./reading/login-rules.ts";
import type { Step } from "./reading/next-step.ts";
import type { LoginChoice } from "./reading/read-login-page.ts";
import type { SsoButton } from "./reading/sso-buttons.ts";
import type { Submitted } from "./submission.ts";
import { type Look, typeValues } from "./type-values.ts";

/** What one login types and presses at most: a page that leads in circles ends it. */
const mostActs = 20;

/** Notes in Redis that something is pressed, before it is: of two replicas one presses it, and none once more. */
const notePress = async (drive: Drive, { page }: Look): Promise<void> => {
  noteActed(drive.memory, page, { nowMs: performance.now() });
  await write(drive, { ssoProvider: drive.memory.ssoProvider });
};

const send = async (drive: Drive, look: Look, step: Step & { do: "send" }): Promise<void> => {
  const { survey } = look;
  await notePress(drive, look);
  const { send: button, fields } = step.form;
  if (button) await survey.press(button.place);
  else if (fields[0]) await survey.submit(fields[0].place);
};

/** The button that sends a choice among radio buttons. */
const sendOfChoice = (survey: PageSurvey, frame: number): number | undefined => {
  const pressables = survey.frames[frame]?.pressables ?? [];
  const index = pressables.findIndex(({ kind, text }) => kind === "submit" && !loginRules.never(text));
  return index < 0 ? undefined : index;
};

const choose = async (drive: Drive, look: Look, what: Pick<LoginChoice, "place" | "kind">): Promise<void> => {
  const { survey } = look;
  await notePress(drive, look);
  drive.memory.hasChosen = true;
  await survey.press(what.place);
  const index = what.kind === "radio" ? sendOfChoice(survey, what.place.frame) : undefined;
  if (index !== undefined) await survey.press({ frame: what.place.frame, index });
};

/** Goes to a provider of single sign-on. */
const goToProvider = async (drive: Drive, look: Look, { place, provider }: SsoButton): Promise<void> => {
  drive.memory.ssoProvider = provider;
  await notePress(drive, look);
  await look.survey.press(place);
};

/** What a caller has handed in since the last look. */
export const takeSubmitted = async (drive: Drive, look: Look, submitted: Submitted): Promise<void> => {
  for (const [ref, value] of submitted.values) {
    drive.given.set(ref, value);
    drive.memory.typed.delete(ref);
    drive.memory.rejected.delete(ref);
  }
  const { choice } = submitted;
  const chosen = choice && look.page.choices.find(({ text }) => text === choice.label);
  if (chosen) await choose(drive, look, chosen);
  const button = choice?.provider !== undefined && look.page.ssoButtons.find(({ text }) => text === choice.label);
  if (button) await goToProvider(drive, look, button);
};

/** Carries out a step; throws `Ended` when it is the last one. */
export const act = async (drive: Drive, look: Look, step: Step): Promise<void> => {
  if (["type", "send", "press", "sso"].includes(step.do)) {
    drive.acts += 1;
    if (drive.acts > mostActs) throw failed("too_many_steps");
  }
  switch (step.do) {
    case "wait":
      return;
    case "type":
      return typeValues(drive, look, step);
    case "send":
      return send(drive, look, step);
    case "press":
      return choose(drive, look, step.what);
    case "sso":
      return goToProvider(drive, look, step.what);
    case "ask":
      return ask(drive, step);
    case "person":
      return needPerson(drive, step.why);
    case "fail":
      throw failed(step.code, step.origin);
    case "done":
      throw new Ended("SUCCESS", undefined, pageOf(look.page.url));
  }
};

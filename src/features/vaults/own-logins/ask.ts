/** What a login waits for when it can't go on by itself: values, a choice, or a person. */
import { randomBytes } from "node:crypto";
import { type Drive, write } from "./drive.ts";
import type { AwaitedChoice, AwaitedField } from "./flow.ts";
import { failed } from "./outcome.ts";
import type { MissingField, PersonIsNeeded, Step } from "./reading/next-step.ts";
import type { LoginChoice } from "./reading/read-login-page.ts";
import { type SsoButton, xpathOf } from "./reading/sso-buttons.ts";

const actions: Record<PersonIsNeeded, string> = {
  captcha: "solve the captcha in the live view and send the form",
  push: "approve the login on the other device",
  unknown: "the page is none that is known; go on in the live view",
};

const inputModes: Record<string, AwaitedField["input_mode"]> = { email: "email", tel: "tel", numeric: "numeric" };

const awaitedField = (field: MissingField): AwaitedField => {
  const mode = field.isEmail ? "email" : inputModes[field.inputMode];
  return {
    id: field.ref,
    ref: field.ref,
    type: field.kind,
    reason: field.reason,
    label: field.label,
    required: !field.isOptional,
    ...(mode && { input_mode: mode }),
  };
};

const choiceId = (index: number): string => `choice-${index + 1}`;

const awaitedChoice = (choice: LoginChoice | SsoButton, index: number): AwaitedChoice => {
  const known = { id: choiceId(index), label: choice.text };
  if (!("provider" in choice)) return { ...known, type: "mfa_method", mfa_type: choice.type };
  return { ...known, type: "sso_provider", provider: choice.provider, observed_selector: xpathOf(choice) };
};

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Waits for values or a choice. Without a person, a login ends here. */
export const ask = async (drive: Drive, step: Step & { do: "ask" }): Promise<void> => {
  const isRejected = step.fields.some(({ reason }) => reason === "rejected");
  if (drive.flow.type === "REAUTH") throw failed(isRejected ? "credentials_rejected" : "input_required");
  for (const { ref, isOptional } of step.fields) if (!isOptional) drive.given.delete(ref);
  const fields = step.fields.map(awaitedField);
  const choices = step.choices.map(awaitedChoice);
  const { flow } = drive;
  if (flow.step === "AWAITING_INPUT" && isSame(flow.fields, fields) && isSame(flow.choices, choices)) return;
  await write(drive, {
    step: "AWAITING_INPUT",
    fields,
    choices,
    interactionId: randomBytes(12).toString("hex"),
    externalMessage: undefined,
    websiteError: isRejected ? "the site did not take what was typed" : undefined,
  });
};

/** Waits for a person. */
export const needPerson = async (drive: Drive, why: PersonIsNeeded): Promise<void> => {
  if (drive.flow.type === "REAUTH") throw failed("external_action_required");
  drive.memory.hasActed = true;
  const externalMessage = actions[why];
  if (drive.flow.step === "AWAITING_EXTERNAL_ACTION" && drive.flow.externalMessage === externalMessage) return;
  await write(drive, {
    step: "AWAITING_EXTERNAL_ACTION",
    externalMessage,
    fields: [],
    choices: [],
    interactionId: undefined,
  });
};

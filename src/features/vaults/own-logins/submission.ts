/** What a caller hands in to a login, held against what the login waits for; pure. */
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { Sensitive } from "../../../platform/base/sensitive.ts";
import type { AwaitedChoice, LoginFlow } from "./flow.ts";

/** What a caller has handed in: values by the names of fields, or a choice. */
export type Submitted = { values: Map<string, Sensitive>; choice: AwaitedChoice | undefined };

/** As a caller hands it in. What begins with `older`, and `factor`: by older clients, which name no interaction. */
export type Submission = {
  interactionId?: string | undefined;
  values?: Record<string, string> | undefined;
  olderValues?: Record<string, string> | undefined;
  choiceId?: string | undefined;
  factor?: string | undefined;
  ssoProvider?: string | undefined;
  ssoSelector?: string | undefined;
};

/** What names a choice, by the fields of a request. */
const choosers = {
  selected_choice_id: ({ id }: AwaitedChoice, { choiceId }: Submission) => id === choiceId,
  mfa_option_id: ({ mfa_type }: AwaitedChoice, { factor }: Submission) => mfa_type === factor,
  sso_provider: ({ provider }: AwaitedChoice, { ssoProvider }: Submission) => provider === ssoProvider?.toLowerCase(),
  sso_button_selector: ({ observed_selector }: AwaitedChoice, { ssoSelector }: Submission) =>
    observed_selector === ssoSelector,
};

/** The choice that is meant; undefined when none is. Throws `bad_request`. */
const chosenOf = (flow: LoginFlow, submission: Submission): AwaitedChoice | undefined => {
  const { choiceId, factor, ssoProvider, ssoSelector } = submission;
  const given = [
    choiceId !== undefined && ("selected_choice_id" as const),
    factor !== undefined && ("mfa_option_id" as const),
    ssoProvider !== undefined && ("sso_provider" as const),
    ssoSelector !== undefined && ("sso_button_selector" as const),
  ].filter((path) => path !== false);
  const [path, another] = given;
  if (another) throw invalidInput([{ path: another, message: `names a choice as ${path} does; give one of them` }]);
  if (!path) return undefined;
  const choice = flow.choices.find((one) => choosers[path](one, submission));
  if (!choice) throw invalidInput([{ path, message: "is none of the choices that the login waits for" }]);
  return choice;
};

/** Throws `bad_request` for values of fields that the login does not wait for. */
const requireFields = (flow: LoginFlow, { values = {}, olderValues = {} }: Submission): void => {
  const problems = (given: Record<string, string>, path: string) =>
    Object.keys(given)
      .filter((name) => !flow.fields.some(({ id }) => id === name))
      .map((name) => ({ path: `${path}.${name}`, message: "is none of the fields that the login waits for" }));
  const details = [...problems(values, "field_values"), ...problems(olderValues, "fields")];
  if (details.length > 0) throw invalidInput(details);
};

/** What is handed in. Throws `bad_request`, and `conflict` when the login has gone on. */
export const requireAwaited = (flow: LoginFlow, submission: Submission): Submitted => {
  const { interactionId, values, olderValues, choiceId } = submission;
  if (interactionId === undefined && (values !== undefined || choiceId !== undefined))
    throw invalidInput([{ path: "interaction_id", message: "give that of the connection's answer" }]);
  if (interactionId !== undefined && interactionId !== flow.interactionId)
    throw new AppError("conflict", "interaction_id: the login has gone on since; read the connection again");
  requireFields(flow, submission);
  const choice = chosenOf(flow, submission);
  const given = Object.entries({ ...olderValues, ...values });
  if (!choice && given.length === 0)
    throw invalidInput([{ path: "field_values", message: "give the values of fields, or a choice" }]);
  return { values: new Map(given.map(([name, value]) => [name, new Sensitive(value)])), choice };
};

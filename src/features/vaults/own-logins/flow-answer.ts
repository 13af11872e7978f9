/** What answers and events say of a login that the service does itself. */
import { z } from "zod";
import {
  AwaitedChoice,
  AwaitedField,
  flowErrors,
  flowStatuses,
  flowSteps,
  flowText,
  isOver,
  type LoginFlow,
} from "./flow.ts";

const MfaOption = z.object({
  label: flowText,
  type: z.enum(["sms", "call", "email", "totp", "push", "password", "switch"]),
});

const PendingSsoButton = z.object({
  label: flowText,
  provider: z.string(),
  selector: z.string().describe("An XPath of the button."),
});

const DiscoveredField = z.object({
  name: z.string(),
  label: flowText,
  type: z.enum(["text", "email", "password", "tel", "number", "url", "code", "totp"]),
  selector: z.string(),
  required: z.boolean().optional(),
});

/** What answers say of the last login of a connection. */
const flowFields = {
  flow_type: z.enum(["LOGIN", "REAUTH"]),
  flow_status: z.enum(flowStatuses),
  flow_step: z.enum(flowSteps),
  interaction_id: z.string().optional().describe("Changes with each pause; `submit` names it."),
  fields: z.array(AwaitedField).optional().describe("Values that `submit` must give."),
  choices: z.array(AwaitedChoice).optional().describe("Choices of which `submit` must take one."),
  discovered_fields: z.array(DiscoveredField).optional().describe("The same fields in an older form."),
  mfa_options: z.array(MfaOption).optional().describe("The same choices in an older form."),
  pending_sso_buttons: z.array(PendingSsoButton).optional().describe("The choices of single sign-on in an older form."),
  sso_provider: z.string().optional().describe("The provider of single sign-on that the login has gone to."),
  external_action_message: flowText.optional().describe("What a person must do in the live view."),
  error_code: z.enum(flowErrors).optional(),
  error_message: flowText.optional(),
  website_error: flowText.optional().describe("What the site objects to, in this service's words."),
  post_login_url: z.string().optional().describe("Where the browser was after the login, without query and fragment."),
  live_view_url: z.string().optional().describe("The browser's live view, while the login runs."),
};

/** The part of a connection's answer about its last login. */
export const FlowAnswer = z.object({
  ...flowFields,
  flow_expires_at: z.iso.datetime().describe("When the login ends at the latest."),
  browser_session_id: z.string().optional().describe("The session that logs in, while the login runs."),
});
export type FlowAnswer = z.infer<typeof FlowAnswer>;

/** An event of `GET /auth/connections/{id}/events`. */
export const FlowEvent = z.object({
  event: z.literal("managed_auth_state"),
  ...flowFields,
  timestamp: z.iso.datetime(),
});
export type FlowEvent = z.infer<typeof FlowEvent>;

const olderType = ({ type, ref, input_mode }: AwaitedField): z.infer<typeof DiscoveredField>["type"] => {
  if (type === "password" || type === "code") return type;
  return input_mode === "email" || ref === "email" ? "email" : "text";
};

const discovered = (field: AwaitedField): z.infer<typeof DiscoveredField> => ({
  name: field.ref,
  label: field.label ?? field.ref,
  type: olderType(field),
  selector: "",
  ...(field.required !== undefined && { required: field.required }),
});

const isOlderFactor = (type: string | undefined): type is z.infer<typeof MfaOption>["type"] =>
  MfaOption.shape.type.safeParse(type).success;

const ssoButton = ({ label, provider = "", observed_selector: selector = "" }: AwaitedChoice) => ({
  label,
  provider,
  selector,
});

const choicesAnswer = ({ choices }: LoginFlow) => {
  const factors = choices.flatMap(({ label, mfa_type: type }) => (isOlderFactor(type) ? [{ label, type }] : []));
  const buttons = choices.filter(({ type }) => type === "sso_provider").map(ssoButton);
  return {
    ...(choices.length > 0 && { choices }),
    ...(factors.length > 0 && { mfa_options: factors }),
    ...(buttons.length > 0 && { pending_sso_buttons: buttons }),
  };
};

const statesOf = (flow: LoginFlow, liveViewUrl: string | undefined): Omit<FlowEvent, "event" | "timestamp"> => ({
  flow_type: flow.type,
  flow_status: flow.status,
  flow_step: flow.step,
  ...(flow.interactionId && { interaction_id: flow.interactionId }),
  ...(flow.fields.length > 0 && { fields: flow.fields, discovered_fields: flow.fields.map(discovered) }),
  ...choicesAnswer(flow),
  ...(flow.ssoProvider && { sso_provider: flow.ssoProvider }),
  ...(flow.externalMessage && { external_action_message: flow.externalMessage }),
  ...(flow.errorCode && { error_code: flow.errorCode }),
  ...(flow.errorMessage && { error_message: flow.errorMessage }),
  ...(flow.websiteError && { website_error: flow.websiteError }),
  ...(flow.postLoginUrl && { post_login_url: flow.postLoginUrl }),
  ...(liveViewUrl && { live_view_url: liveViewUrl }),
});

/** `liveViewUrl`: undefined when the caller may not use it, or there is no browser. */
export const flowAnswer = (flow: LoginFlow, liveViewUrl: string | undefined): FlowAnswer => ({
  ...statesOf(flow, liveViewUrl),
  flow_expires_at: new Date(flow.expiresMs).toISOString(),
  ...(flow.session && !isOver(flow) && { browser_session_id: flow.session }),
});

/** The same as an event of a stream. */
export const flowEvent = (flow: LoginFlow, liveViewUrl: string | undefined): FlowEvent => ({
  event: "managed_auth_state",
  ...statesOf(flow, liveViewUrl),
  timestamp: new Date(flow.updatedMs).toISOString(),
});

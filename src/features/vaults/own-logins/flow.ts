/**
 * A login that the service does itself, as Redis keeps it and as callers see it. It holds no value of a login, and of a
 * page only what names its fields and choices.
 *
 *   DISCOVERING ──► SUBMITTING ◄──► AWAITING_INPUT │ AWAITING_EXTERNAL_ACTION        IN_PROGRESS
 *                        └──► COMPLETED: SUCCESS │ FAILED │ EXPIRED │ CANCELED
 */
import { z } from "zod";

const flowStatuses = ["IN_PROGRESS", "SUCCESS", "FAILED", "EXPIRED", "CANCELED"] as const;
const flowSteps = ["DISCOVERING", "AWAITING_INPUT", "AWAITING_EXTERNAL_ACTION", "SUBMITTING", "COMPLETED"] as const;
const factorTypes = ["sms", "call", "email", "totp", "push", "password", "passkey", "switch", "other"] as const;

const text = z.string().max(300);

const AwaitedField = z.object({
  id: z.string().max(128).describe("By which `submit` gives its value."),
  ref: z.string().max(128).describe("The name under which the value is stored."),
  type: z.enum(["identifier", "password", "code", "totp_code", "totp_secret", "text"]),
  reason: z.enum(["missing", "rejected"]).describe("rejected: the site did not take the value that was typed."),
  label: text.optional().describe("What the page calls it."),
  required: z.boolean().optional(),
  input_mode: z.enum(["text", "email", "tel", "numeric"]).optional(),
});
export type AwaitedField = z.infer<typeof AwaitedField>;

const AwaitedChoice = z.object({
  id: z.string().max(64).describe("By which `submit` chooses it."),
  label: text.describe("What the page calls it."),
  type: z.enum([
    "mfa_method",
    "sso_provider",
    "sign_in_method",
    "auth_method",
    "identifier_method",
    "account",
    "other",
  ]),
  mfa_type: z.enum(factorTypes).optional(),
});
export type AwaitedChoice = z.infer<typeof AwaitedChoice>;

/** Why a login that the service does itself has failed. */
const flowErrors = [
  "account_locked",
  "browser_ended",
  "browser_not_started",
  "credential_provider_refused",
  "credential_provider_unavailable",
  "credential_unreadable",
  "credentials_rejected",
  "external_action_required",
  "external_credential_not_found",
  "external_credential_unusable",
  "input_required",
  "internal_error",
  "origin_not_allowed",
  "profile_not_saved",
  "site_not_reached",
  "too_many_steps",
] as const;
export type FlowError = (typeof flowErrors)[number];

/** A login as Redis keeps it. */
export const LoginFlow = z.object({
  id: z.string(),
  /** Rises with each change. */
  version: z.int(),
  type: z.enum(["LOGIN", "REAUTH"]),
  status: z.enum(flowStatuses),
  step: z.enum(flowSteps),
  startedMs: z.int(),
  updatedMs: z.int(),
  expiresMs: z.int(),
  completedMs: z.int().optional(),
  /** Where the connection is. */
  projectId: z.string(),
  connectionId: z.string(),
  /** The API replica that drives it. */
  driver: z.string(),
  session: z.string().optional(),
  /** Whether the page where the login begins was opened. */
  isOpen: z.boolean(),
  interactionId: z.string().optional(),
  fields: z.array(AwaitedField).max(50).default([]),
  choices: z.array(AwaitedChoice).max(50).default([]),
  externalMessage: text.optional(),
  errorCode: z.enum(flowErrors).optional(),
  errorMessage: text.optional(),
  websiteError: text.optional(),
  postLoginUrl: z.string().max(2048).optional(),
  /** Names of values that were typed, and of those that the site refused. */
  typed: z.array(z.string().max(128)).max(100).default([]),
  rejected: z.array(z.string().max(128)).max(100).default([]),
  /** Of those that were typed: what is in the page, or is just being typed into it, and was not sent. */
  unsent: z.array(z.string().max(128)).max(100).optional(),
  /** Whether the site has let in, so that only the profile is to be saved. */
  isIn: z.boolean().optional(),
});
export type LoginFlow = z.infer<typeof LoginFlow>;

/** Whether a login has ended, however. */
export const isOver = ({ status }: Pick<LoginFlow, "status">): boolean => status !== "IN_PROGRESS";

const MfaOption = z.object({
  label: text,
  type: z.enum(["sms", "call", "email", "totp", "push", "password", "switch"]),
});

const DiscoveredField = z.object({
  name: z.string(),
  label: text,
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
  external_action_message: text.optional().describe("What a person must do in the live view."),
  error_code: z.enum(flowErrors).optional(),
  error_message: text.optional(),
  website_error: text.optional().describe("What the site objects to, in this service's words."),
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

/** What a timeline tells of. */
export const timelineTypes = ["login", "reauth", "health_check"] as const;

export const TimelineEvent = z.object({
  id: z.string().describe("The id of the login or of the check."),
  type: z.enum(timelineTypes),
  status: z.enum([...flowStatuses, "AUTHENTICATED", "NEEDS_AUTH"]),
  timestamp: z.iso.datetime().describe("When it began."),
  updated_at: z.iso.datetime().optional(),
  completed_at: z.iso.datetime().optional(),
  step: z.enum(flowSteps).optional(),
  previous_status: z.enum(["AUTHENTICATED", "NEEDS_AUTH"]).optional(),
  browser_session_id: z.string().optional(),
  error_code: z.enum(flowErrors).optional(),
  error_message: text.optional(),
  website_error: text.optional(),
});
export type TimelineEvent = z.infer<typeof TimelineEvent>;

const iso = (ms: number): string => new Date(ms).toISOString();

/** An entry of the timeline for a login; pure. */
export const timelineEventOf = (flow: LoginFlow): TimelineEvent => ({
  id: flow.id,
  type: flow.type === "LOGIN" ? "login" : "reauth",
  status: flow.status,
  step: flow.step,
  timestamp: iso(flow.startedMs),
  updated_at: iso(flow.updatedMs),
  ...(flow.completedMs !== undefined && { completed_at: iso(flow.completedMs) }),
  ...(flow.session && { browser_session_id: flow.session }),
  ...(flow.errorCode && { error_code: flow.errorCode }),
  ...(flow.errorMessage && { error_message: flow.errorMessage }),
  ...(flow.websiteError && { website_error: flow.websiteError }),
});

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

const statesOf = (flow: LoginFlow, liveViewUrl: string | undefined): Omit<FlowEvent, "event" | "timestamp"> => ({
  flow_type: flow.type,
  flow_status: flow.status,
  flow_step: flow.step,
  ...(flow.interactionId && { interaction_id: flow.interactionId }),
  ...(flow.fields.length > 0 && { fields: flow.fields, discovered_fields: flow.fields.map(discovered) }),
  ...(flow.choices.length > 0 && {
    choices: flow.choices,
    mfa_options: flow.choices.flatMap(({ label, mfa_type: type }) => (isOlderFactor(type) ? [{ label, type }] : [])),
  }),
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
  flow_expires_at: iso(flow.expiresMs),
  ...(flow.session && !isOver(flow) && { browser_session_id: flow.session }),
});

/** The same as an event of a stream. */
export const flowEvent = (flow: LoginFlow, liveViewUrl: string | undefined): FlowEvent => ({
  event: "managed_auth_state",
  ...statesOf(flow, liveViewUrl),
  timestamp: iso(flow.updatedMs),
});

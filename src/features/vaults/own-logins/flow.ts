/**
 * A login that the service does itself, as Redis keeps it and as callers see it. It holds no value of a login, and of a
 * page only what names its fields and choices.
 *
 *   DISCOVERING ──► SUBMITTING ◄──► AWAITING_INPUT │ AWAITING_EXTERNAL_ACTION        IN_PROGRESS
 *                        └──► COMPLETED: SUCCESS │ FAILED │ EXPIRED │ CANCELED
 */
import { z } from "zod";

/** How a login stands. */
export const flowStatuses = ["IN_PROGRESS", "SUCCESS", "FAILED", "EXPIRED", "CANCELED"] as const;
/** What a login is at. */
export const flowSteps = [
  "DISCOVERING",
  "AWAITING_INPUT",
  "AWAITING_EXTERNAL_ACTION",
  "SUBMITTING",
  "COMPLETED",
] as const;
const factorTypes = ["sms", "call", "email", "totp", "push", "password", "passkey", "switch", "other"] as const;

/** A text that answers show. */
export const flowText = z.string().max(300);

/** A value that a login waits for. */
export const AwaitedField = z.object({
  id: z.string().max(128).describe("By which `submit` gives its value."),
  ref: z.string().max(128).describe("The name under which the value is stored."),
  type: z.enum(["identifier", "password", "code", "totp_code", "totp_secret", "text"]),
  reason: z.enum(["missing", "rejected"]).describe("rejected: the site did not take the value that was typed."),
  label: flowText.optional().describe("What the page calls it."),
  required: z.boolean().optional(),
  input_mode: z.enum(["text", "email", "tel", "numeric"]).optional(),
});
export type AwaitedField = z.infer<typeof AwaitedField>;

/** A choice that a login waits for. */
export const AwaitedChoice = z.object({
  id: z.string().max(64).describe("By which `submit` chooses it."),
  label: flowText.describe("What the page calls it."),
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
  provider: z
    .string()
    .max(64)
    .optional()
    .describe("Of single sign-on, e.g. google; `submit` takes it as `sso_provider`."),
  observed_selector: z.string().max(2000).optional().describe("An XPath; `submit` takes it as `sso_button_selector`."),
});
export type AwaitedChoice = z.infer<typeof AwaitedChoice>;

/** Why a login that the service does itself has failed. */
export const flowErrors = [
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
  externalMessage: flowText.optional(),
  errorCode: z.enum(flowErrors).optional(),
  errorMessage: flowText.optional(),
  websiteError: flowText.optional(),
  postLoginUrl: z.string().max(2048).optional(),
  /** Names of values that were typed, and of those that the site refused. */
  typed: z.array(z.string().max(128)).max(100).default([]),
  rejected: z.array(z.string().max(128)).max(100).default([]),
  /** Of those that were typed: what is in the page, or is just being typed into it, and was not sent. */
  unsent: z.array(z.string().max(128)).max(100).optional(),
  /** The provider of single sign-on whose button was pressed last. */
  ssoProvider: z.string().max(64).optional(),
  /** Whether the site has let in, so that only the profile is to be saved. */
  isIn: z.boolean().optional(),
});
export type LoginFlow = z.infer<typeof LoginFlow>;

/** Whether a login has ended, however. */
export const isOver = ({ status }: Pick<LoginFlow, "status">): boolean => status !== "IN_PROGRESS";

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
  error_message: flowText.optional(),
  website_error: flowText.optional(),
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

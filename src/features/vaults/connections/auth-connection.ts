/** The kind AuthConnection: how one profile is logged in to one domain (docs/rules.md, CONNECTION). */
import { z } from "zod";
import { Telemetry } from "../../../core/model/settings/telemetry.ts";
import { minHealthCheckSeconds } from "../../../core/projects/organization-limits.ts";
import { originList } from "../../../platform/addresses/allowed-origins.ts";
import { hostName } from "../../../platform/addresses/host-pattern.ts";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { closedObject, documentedForms } from "../../../platform/kinds/document-rules.ts";
import { secretNameFor } from "../../../platform/kinds/identity.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { namePattern, Selector } from "../../../platform/kinds/selector.ts";
import { optionalFields, wireSchema } from "../../../platform/kinds/wire.ts";
import { FlowAnswer } from "../own-logins/flow-answer.ts";

/** The message of the API server for YAML and of the HTTP API for requests. */
export const credentialChoice = "give a name, or a provider with either a path or auto: true, or auto: true alone";

const fixed = (what: string) =>
  validations({ rule: "self == oldSelf", message: `${what} of a connection cannot change` });

/** The scheme of a page where a login begins; the rest is checked with the connection's domains. */
const loginUrlPattern = /^[hH][tT][tT][pP][sS]?:\/\//;
const loginUrlMessage = "must be an address that begins with https:// or http://";

/** For settings of browsers that log in by themselves which are not carried out (CONNECTION-21). */
const notHere = (what: string): string => `Not supported here: ${what} is refused.`;

const given = (...fields: string[]): object => ({ required: fields });
const without = (...fields: string[]): object => ({ not: { anyOf: fields.map((field) => given(field)) } });
const isAuto = { properties: { auto: { const: true } }, ...given("auto") };

/** The forms of `credentialChoice` for the OpenAPI document. */
const credentialForms: Record<string, unknown>[] = [
  { ...given("name"), ...without("provider", "path", "auto") },
  { ...given("provider", "path"), not: { anyOf: [given("name"), isAuto] } },
  { ...isAuto, ...without("name", "path") },
];

const CredentialFields = z
  .object({
    name: z.string().regex(namePattern).optional().describe("The name of a Credential of the same project."),
    provider: z.string().min(1).max(255).optional().describe("The name of a credential provider of the organization."),
    path: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe("The credential's path at the provider, e.g. team-logins/shop."),
    auto: z
      .boolean()
      .optional()
      .describe("Whether it is found by the domain; without a provider, in all of them in their order."),
  })
  .meta(
    validations({
      rule: "has(self.name) ? !has(self.provider) && !has(self.path) && !has(self.auto) : has(self.path) ? has(self.provider) && !(has(self.auto) && self.auto) : has(self.auto) && self.auto",
      message: credentialChoice,
    }),
  )
  .describe("The credential with the login's values.");

/** Where the login's values are: a credential of the project, or a credential that an external provider keeps. */
const ConnectionCredential = documentedForms(CredentialFields, credentialForms);

export const AuthConnectionSpec = z
  .object({
    domain: hostName.meta(fixed("the domain")).describe("The domain to log in to. It cannot change."),
    profileName: z
      .string()
      .regex(namePattern)
      .meta(fixed("the profile"))
      .describe("The name of the profile that is logged in. It cannot change."),
    saveCredentials: z.boolean().default(true).describe("Whether a collected login is saved as the credential."),
    credential: ConnectionCredential.optional(),
    allowedDomains: z
      .array(z.string().min(1).max(253))
      .max(100)
      .optional()
      .describe(
        "Further domains into whose pages, and those below them, the login may be typed, as those of a provider of single sign-on.",
      ),
    allowedOrigins: originList(1)
      .optional()
      .describe(
        "The only origins whose pages the connection's items may fill. Narrows those of the credential; items can narrow them further. Left out: the credential's.",
      ),
    loginUrl: z
      .string()
      .max(2048)
      .regex(loginUrlPattern, loginUrlMessage)
      .optional()
      .describe("The page where the login begins. With it the service logs in by itself."),
    healthChecks: z
      .boolean()
      .default(false)
      .describe("Whether it is checked periodically that the profile is logged in."),
    healthCheckInterval: z
      .int()
      .min(minHealthCheckSeconds)
      .max(86_400)
      .optional()
      .describe("Seconds between two checks; left out: 3600."),
    autoReauth: z
      .boolean()
      .default(true)
      .describe("Whether a login that a check finds expired is renewed without a person."),
    proxy: Selector.optional().describe(`The proxy to log in through, by id or by name. ${notHere("any proxy")}`),
    recordSession: z
      .boolean()
      .default(false)
      .describe(`Whether browsers that log in are recorded. ${notHere("true")}`),
    browserTelemetry: Telemetry.optional().describe(
      `What is captured of browsers that log in. ${notHere("any capture")}`,
    ),
  })
  .describe("The profile to log in, the domain, and how to log in.");
export type AuthConnectionSpec = z.infer<typeof AuthConnectionSpec>;

const AuthConnectionStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    status: z.enum(["NEEDS_AUTH", "AUTHENTICATED"]).optional().describe("Whether a login was collected."),
  })
  .describe("The observed state of the connection. Written by the operator.");

export type AuthConnection = CustomResource<typeof AuthConnectionSpec, typeof AuthConnectionStatus>;

export const authConnectionKind: Kind<typeof AuthConnectionSpec, typeof AuthConnectionStatus> = {
  ...apiGroup,
  kind: "AuthConnection",
  plural: "authconnections",
  shortNames: ["ac"],
  namespaced: true,
  description: "The login of one profile at one domain, and where its credential is kept.",
  spec: AuthConnectionSpec,
  status: AuthConnectionStatus,
  printerColumns: [
    { name: "Domain", type: "string", jsonPath: ".spec.domain" },
    { name: "Profile", type: "string", jsonPath: ".spec.profileName" },
    { name: "Credential", type: "string", jsonPath: ".spec.credential.name" },
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

/** The Secret with the login code of a connection; the operator deletes it with the connection. */
export const loginSecretName = (connectionName: string): string => secretNameFor("login-", connectionName);

/**
 * When a person's login was last collected, or the service has last logged in, RFC 3339; gone when a check finds the
 * profile logged out. Written by the HTTP API, read by the operator.
 */
export const authenticatedAtAnnotation = "browserpool.dev/authenticated-at";

/** Where the browser was after a login that the service did, without query and fragment; written by the HTTP API. */
export const postLoginUrlAnnotation = "browserpool.dev/post-login-url";

/** The page where the last login of the service ended; undefined before one. */
export const postLoginUrlOf = ({ metadata }: AuthConnection): string | undefined =>
  metadata.annotations?.[postLoginUrlAnnotation];

/** `AUTHENTICATED` once a login was collected, whether or not it was saved. */
export const connectionStatus = ({ metadata }: AuthConnection): "NEEDS_AUTH" | "AUTHENTICATED" =>
  metadata.annotations?.[authenticatedAtAnnotation] === undefined ? "NEEDS_AUTH" : "AUTHENTICATED";

// Connections over HTTP, derived from the spec of the kind (auth-connection.ts); the SDK's `auth.connections`. Requests
// are closed, as credentials' are.

const lenientFields = {
  browserTelemetry: Telemetry.nullable().optional(),
  allowedOrigins: AuthConnectionSpec.shape.allowedOrigins
    .unwrap()
    .nullable()
    .optional()
    .describe(
      "The only origins whose pages the connection's items may fill, each among those of the credential. Null: the credential's.",
    ),
};

/**
 * The request of `POST /auth/connections` in camelCase; `features/vaults/connections/rules/connection-spec.ts` turns it
 * into a spec.
 */
export const ConnectionRequest = closedObject(AuthConnectionSpec.extend(lenientFields));
export type ConnectionRequest = z.infer<typeof ConnectionRequest>;

/**
 * The request of `PATCH /auth/connections/{id}` in camelCase; `features/vaults/connections/rules/connection-spec.ts`
 * applies it.
 */
export const ConnectionPatch = closedObject(
  optionalFields(AuthConnectionSpec.omit({ domain: true, profileName: true })).extend({
    ...lenientFields,
    loginUrl: z
      .string()
      .max(2048)
      .regex(new RegExp(`^$|${loginUrlPattern.source}`), loginUrlMessage)
      .optional()
      .describe("The page where the login begins. An empty string clears it."),
  }),
);
export type ConnectionPatch = z.infer<typeof ConnectionPatch>;

export const CreateConnection = wireSchema(ConnectionRequest);
export type CreateConnection = z.output<typeof CreateConnection>;

export const UpdateConnection = wireSchema(ConnectionPatch);
export type UpdateConnection = z.output<typeof UpdateConnection>;

/** The request of `POST /auth/connections/{id}/login` in camelCase: settings of a connection, for one login. */
export const LoginSettings = closedObject(
  z.object({
    proxy: AuthConnectionSpec.shape.proxy,
    recordSession: AuthConnectionSpec.shape.recordSession.unwrap().optional(),
    browserTelemetry: lenientFields.browserTelemetry,
  }),
);

export const LoginRequest = wireSchema(LoginSettings);
export type LoginRequest = z.output<typeof LoginRequest>;

const reauthReasons = [
  "has_credential",
  "external_credential",
  "no_credential",
  "no_viable_plans",
  "requires_external_action",
  "requires_customer_input",
] as const;
export type ReauthReason = (typeof reauthReasons)[number];

/** What is not carried out is not shown, or false. */
export const ConnectionAnswer = wireSchema(
  AuthConnectionSpec.omit({ proxy: true, browserTelemetry: true }).extend({
    ...FlowAnswer.partial().shape,
    id: z.string().describe("The connection's id."),
    status: z
      .enum(["NEEDS_AUTH", "AUTHENTICATED"])
      .describe("Whether a login was collected, or the service has logged the profile in and knows of no end of that."),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    lastAuthCheckAt: z.iso.datetime().optional().describe("When the login was checked last. Not in lists."),
    lastAuthAt: z.iso.datetime().optional().describe("The same."),
    healthCheckUnavailableReason: z
      .literal("no_auth_check_url")
      .optional()
      .describe("Why the login can't be checked: there is no page to open."),
    canReauth: z.boolean().optional().describe("Whether a login without a person has what it needs. Not in lists."),
    canReauthReason: z.enum(reauthReasons).optional().describe("Why. Not in lists."),
  }),
);
export type ConnectionAnswer = z.output<typeof ConnectionAnswer>;

export const LoginAnswer = z.object({
  id: z.string().describe("The connection's id."),
  hosted_url: z
    .string()
    .describe("The page where a person logs in. The code follows the #, so browsers send it to no server."),
  handoff_code: z.string().describe("The code, valid for one login; the next call makes another one."),
  flow_type: z.enum(["LOGIN", "REAUTH"]),
  flow_expires_at: z.iso.datetime().describe("When the code, or the login that the service does, expires."),
});
export type LoginAnswer = z.infer<typeof LoginAnswer>;

/**
 * Connections over HTTP, derived from the spec of the kind (auth-connection.ts); the SDK's `auth.connections`. Requests are closed, as those
 * of credentials.
 */
import { z } from "zod";
import { Telemetry } from "../../../core/model/settings/telemetry.ts";
import { closedObject } from "../../../platform/kinds/document-rules.ts";
import { optionalFields } from "../../../platform/kinds/optional-fields.ts";
import { wireSchema } from "../../../platform/kinds/wire.ts";
import { AuthConnectionSpec } from "./auth-connection.ts";

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

/** The request of `POST /auth/connections` in camelCase; `features/vaults/connections/rules/connection-spec.ts` turns it into a spec. */
export const ConnectionRequest = closedObject(AuthConnectionSpec.extend(lenientFields));
export type ConnectionRequest = z.infer<typeof ConnectionRequest>;

/** The request of `PATCH /auth/connections/{id}` in camelCase; `features/vaults/connections/rules/connection-spec.ts` applies it. */
export const ConnectionPatch = closedObject(
  optionalFields(AuthConnectionSpec.omit({ domain: true, profileName: true })).extend({
    ...lenientFields,
    loginUrl: z
      .string()
      .max(2048)
      .optional()
      .describe("The page where the login begins. An empty string clears it. Not supported here: any page is refused."),
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

/** What is not carried out is not shown, or false. */
export const ConnectionRecord = wireSchema(
  AuthConnectionSpec.omit({
    allowedDomains: true,
    loginUrl: true,
    healthCheckInterval: true,
    proxy: true,
    browserTelemetry: true,
  }).extend({
    id: z.string().describe("The connection's id."),
    status: z.enum(["NEEDS_AUTH", "AUTHENTICATED"]).describe("Whether a login was collected."),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  }),
);
export type ConnectionRecord = z.output<typeof ConnectionRecord>;

export const LoginRecord = z.object({
  id: z.string().describe("The connection's id."),
  hosted_url: z
    .string()
    .describe("The page where a person logs in. The code follows the #, so browsers send it to no server."),
  handoff_code: z.string().describe("The code, valid for one login; the next call makes another one."),
  flow_type: z.enum(["LOGIN", "REAUTH"]),
  flow_expires_at: z.iso.datetime().describe("When the code expires."),
});
export type LoginRecord = z.infer<typeof LoginRecord>;

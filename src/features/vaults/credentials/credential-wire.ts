/**
 * Credentials over HTTP; field names as on the wire (the SDK's `credentials`). Requests contain values, answers never do. Requests are closed:
 * allowed_origins that are misspelled would allow any page.
 */
import { z } from "zod";
import { originList } from "../../../platform/addresses/allowed-origins-field.ts";
import { closedObject } from "../../../platform/kinds/document-rules.ts";
import { nameOnWire } from "../../../platform/kinds/selector.ts";
import { CredentialSpec, maxValues, valueNamePattern } from "./credential.ts";

/** Longest value, characters. */
const maxValueLength = 4096;

/** Longest name of a value, bytes: its base64 must fit into the name of a Secret's entry. */
const maxNameBytes = 128;

const isShort = (name: string): boolean => Buffer.byteLength(name) <= maxNameBytes;

const valueName = z.string().regex(valueNamePattern).refine(isShort, `at most ${maxNameBytes} bytes`);

/** The values of a login by name, e.g. username and password. */
export const CredentialValues = z
  .record(valueName, z.string().max(maxValueLength))
  .refine((given) => Object.keys(given).length <= maxValues, `at most ${maxValues} values`);

const name = nameOnWire;
const { domain } = CredentialSpec.shape;
const ssoProvider = z.string().min(1).max(255);
/** By HTTP an empty list is refused: it could be meant as any page, and as none. */
const allowedOrigins = originList(1).nullable().optional();
/** One character of base32, and what sites put between them. */
const symbol = "[A-Za-z2-7][\\s-]*";
const symbols = (count: number): string => `(?:${symbol}){${count}}`;

/** At most 256 characters of base32, as many as a number of bytes gives, with padding; or nothing. features/vaults/logins/rules/totp.ts reads it. */
const lastSymbols = [2, 4, 5, 7, 8].map(symbols).join("|");
const base32Text = new RegExp(`^$|^[\\s-]*(?:${symbols(8)}){0,31}(?:${lastSymbols})[=\\s-]*$`);
const totpSecret = z.string().max(512).regex(base32Text, "is no base32 text");

/** Unknown fields are refused: a login is never stored in part. */
export const CreateCredential = closedObject(
  z.strictObject({
    name: name.describe("The credential's name, unique within the project."),
    domain: domain.describe("The domain that the login is for."),
    values: CredentialValues.describe("The values to store, by name, e.g. username and password."),
    totp_secret: totpSecret.optional().describe("The secret of the authenticator app, in base32."),
    sso_provider: ssoProvider.optional().describe("The SSO provider to log in with."),
    allowed_origins: allowedOrigins.describe(
      "The only origins whose pages may be filled with the values, e.g. https://shop.example. Left out: any page.",
    ),
  }),
);
export type CreateCredential = z.infer<typeof CreateCredential>;

/** A change of a credential; what is left out stays. */
export const UpdateCredential = closedObject(
  z.strictObject({
    name: name.optional().describe("The new name; connections that use the credential follow."),
    remove_value_keys: z.array(z.string()).max(1000).optional().describe("Values to remove, before others are stored."),
    values: CredentialValues.optional().describe("Values to store; others stay."),
    totp_secret: totpSecret.optional().describe("The new secret of the authenticator app. An empty string removes it."),
    sso_provider: z
      .string()
      .max(255)
      .nullable()
      .optional()
      .describe("The new SSO provider. An empty string or null removes it."),
    allowed_origins: allowedOrigins.describe(
      "Replaces the origins whose pages may be filled, from the next fill on. Null: any page.",
    ),
  }),
);
export type UpdateCredential = z.infer<typeof UpdateCredential>;

export const CredentialRecord = z.object({
  id: z.string().describe("The credential's id."),
  name: z.string().describe("The credential's name."),
  domain: z.string().describe("The domain that the login is for."),
  has_values: z.boolean().describe("Whether a value that is not empty is stored."),
  has_totp_secret: z.boolean().describe("Whether a TOTP secret is stored that gives codes."),
  totp_secret_problem: z
    .literal("not_base32")
    .optional()
    .describe("Why the stored TOTP secret gives no codes; left out when none is stored, or it does."),
  value_keys: z.array(z.string()).optional().describe("The names of the stored values; left out of lists."),
  sso_provider: z.string().nullable().describe("The SSO provider to log in with."),
  allowed_origins: z
    .array(z.string())
    .optional()
    .describe("The only origins whose pages may be filled with the values; left out: any page."),
  totp_code: z.string().optional().describe("The current code, when the TOTP secret was just stored."),
  totp_code_expires_at: z.iso.datetime().optional().describe("When that code expires."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type CredentialRecord = z.infer<typeof CredentialRecord>;

export const TotpCodeRecord = z.object({
  code: z.string().describe("The current code, 6 digits."),
  expires_at: z.iso.datetime().describe("When it expires."),
});

/** The kind Credential: the metadata of a stored login; a Secret contains its values (VAULT-15). */
import { z } from "zod";
import { originList } from "../../../platform/addresses/allowed-origins.ts";
import { hostName } from "../../../platform/addresses/host-pattern.ts";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { closedObject } from "../../../platform/kinds/document-rules.ts";
import { secretNameFor } from "../../../platform/kinds/identity.ts";
import { apiGroup, type CustomResource, type Kind } from "../../../platform/kinds/kind.ts";
import { nameOnWire, objectName, secretObjectName } from "../../../platform/kinds/selector.ts";

/** Most values of one credential. With `maxValueLength`, even encrypted, they stay below the 1 MiB of a Secret. */
export const maxValues = 50;

/** Names of values: 1 to 128 characters on one line. They come from login forms, so they may be unusual. */
const valueNamePattern = /^.{1,128}$/;

/** The entry of a credential's Secret with the TOTP secret in base32. It is not a value: never listed, never filled. */
export const totpEntry = "totp_secret";

/** The field of items for the codes of the TOTP secret. */
export const totpField = "totp";

/**
 * Whether a stored value of this name is a field of items: the names of the TOTP secret and of its codes mean these
 * alone (ITEM-20).
 */
export const isFieldName = (valueName: string): boolean => valueName !== totpEntry && valueName !== totpField;

const CredentialSpec = z
  .object({
    name: objectName.optional().describe("The credential's name, unique within the project. Left out: metadata.name."),
    domain: hostName.describe("The domain that the login is for."),
    allowedOrigins: originList(0)
      .optional()
      .describe(
        "The only origins whose pages may be filled with the values, e.g. https://shop.example. Connections and items can narrow them. Left out: any page; an empty list: none.",
      ),
    secretRef: z
      .object({ name: secretObjectName.describe("Its name.") })
      .describe("The Secret of the same namespace with the values, one entry for each."),
    valueKeys: z
      .array(z.string().regex(valueNamePattern))
      .max(maxValues)
      .default([])
      .describe("The names of the stored values. The HTTP API sets them for its own Secrets; YAML must list them."),
    totp: z.boolean().default(false).describe("Whether the Secret has a TOTP secret, in base32, as totp_secret."),
    ssoProvider: z.string().min(1).max(255).optional().describe("The SSO provider to log in with, e.g. google."),
  })
  .describe("The metadata of the login. Only the Secret contains its values.");

const CredentialStatus = z
  .object({ observedGeneration, conditions: Conditions })
  .describe("The observed state of the credential. Written by the operator.");

export type Credential = CustomResource<typeof CredentialSpec, typeof CredentialStatus>;

export const credentialKind: Kind<typeof CredentialSpec, typeof CredentialStatus> = {
  ...apiGroup,
  kind: "Credential",
  plural: "credentials",
  shortNames: ["cred"],
  namespaced: true,
  description: "A stored login. Its values are in a Secret, and leave it only into pages that are filled.",
  spec: CredentialSpec,
  status: CredentialStatus,
  printerColumns: [
    { name: "Domain", type: "string", jsonPath: ".spec.domain" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

const ownSecretPrefix = "credential-";

/**
 * The name of a credential's own Secret: the HTTP API writes it, and the operator deletes it with the credential, even
 * if a user created it. A Secret with another name belongs to a user and is only read.
 */
export const ownSecretName = (credentialName: string): string => secretNameFor(ownSecretPrefix, credentialName);

/** Whether the values are in the credential's own Secret. */
export const hasOwnSecret = ({ metadata, spec }: Credential): boolean =>
  spec.secretRef.name === ownSecretName(metadata.name);

/**
 * The HTTP API sets it when it finds that the stored TOTP secret is no base32 text, and removes it later: the operator
 * may not read the Secret. It holds nothing of the secret.
 */
export const unusableTotpAnnotation = "browserpool.dev/unusable-totp";

/** Whether the HTTP API has found that the stored TOTP secret gives no codes. */
export const hasUnusableTotp = ({ metadata }: Credential): boolean =>
  metadata.annotations?.[unusableTotpAnnotation] !== undefined;

/** What of a login is stored, as far as the custom resource says. */
export const declaredLogin = (credential: Credential): { valueNames: string[]; hasTotp: boolean } => ({
  valueNames: credential.spec.valueKeys.filter(isFieldName).sort(),
  hasTotp: credential.spec.totp && !hasUnusableTotp(credential),
});

/** Whether something is. */
export const storesLogin = (credential: Credential): boolean => {
  const { valueNames, hasTotp } = declaredLogin(credential);
  return valueNames.length > 0 || hasTotp;
};

// Credentials over HTTP; field names as on the wire (the SDK's `credentials`). Requests contain values, answers never
// do. Requests are closed: allowed_origins that are misspelled would allow any page.

/** Longest value, characters. */
const maxValueLength = 4096;

/** Longest JWE, characters: a value of four bytes for each character, in base64. */
const maxJweLength = 24_000;

/** Longest name of a value, bytes: its base64 must fit into the name of a Secret's entry. */
const maxNameBytes = 128;

const isShort = (name: string): boolean => Buffer.byteLength(name) <= maxNameBytes;

const valueName = z.string().regex(valueNamePattern).refine(isShort, `at most ${maxNameBytes} bytes`);

/** The values of a login by name, e.g. username and password. */
export const CredentialValues = z
  .record(valueName, z.string().max(maxValueLength))
  .refine((given) => Object.keys(given).length <= maxValues, `at most ${maxValues} values`);

/** The same, encrypted to the key of a vault of the project: each a compact JWE (encryption/vault-key.ts). */
const EncryptedValues = z
  .record(valueName, z.string().max(maxJweLength))
  .refine((given) => Object.keys(given).length <= maxValues, `at most ${maxValues} values`)
  .optional()
  .describe(
    "More values, each a compact JWE to the key that GET /vaults/{id_or_name}/encryption_key gives: who passes the request on can't read them.",
  );

const name = nameOnWire;
const { domain } = CredentialSpec.shape;
const ssoProvider = z.string().min(1).max(255);
/** By HTTP an empty list is refused: it could be meant as any page, and as none. */
const allowedOrigins = originList(1).nullable().optional();
/** One character of base32, and what sites put between them. */
const symbol = "[A-Za-z2-7][\\s-]*";
const symbols = (count: number): string => `(?:${symbol}){${count}}`;

/**
 * At most 256 characters of base32, as many as a number of bytes gives, with padding; or nothing.
 * features/vaults/logins/rules/totp.ts reads it.
 */
const lastSymbols = [2, 4, 5, 7, 8].map(symbols).join("|");
const base32Text = new RegExp(`^$|^[\\s-]*(?:${symbols(8)}){0,31}(?:${lastSymbols})[=\\s-]*$`);
const totpSecret = z.string().max(512).regex(base32Text, "is no base32 text");

/** Unknown fields are refused: a login is never stored in part. */
export const CreateCredential = closedObject(
  z.strictObject({
    name: name.describe("The credential's name, unique within the project."),
    domain: domain.describe("The domain that the login is for."),
    values: CredentialValues.describe("The values to store, by name, e.g. username and password."),
    encrypted_values: EncryptedValues,
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
    encrypted_values: EncryptedValues,
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

export const CredentialAnswer = z.object({
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
export type CredentialAnswer = z.infer<typeof CredentialAnswer>;

export const TotpCodeAnswer = z.object({
  code: z.string().describe("The current code, 6 digits."),
  expires_at: z.iso.datetime().describe("When it expires."),
});

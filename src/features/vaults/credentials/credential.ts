/** The kind Credential: the metadata of a stored login; a Secret contains its values (VAULT-15). */
import { z } from "zod";
import { originList } from "../../../platform/addresses/allowed-origins-field.ts";
import { hostName } from "../../../platform/addresses/host-name.ts";
import { Conditions } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind } from "../../../platform/kinds/kind.ts";
import { observedGeneration } from "../../../platform/kinds/observed-generation.ts";
import { secretNameFor } from "../../../platform/kinds/secret-name.ts";
import { objectName, secretObjectName } from "../../../platform/kinds/selector.ts";

/** Most values of one credential. With `maxValueLength`, even encrypted, they stay below the 1 MiB of a Secret. */
export const maxValues = 50;

/** Names of values: 1 to 128 characters on one line. They come from login forms, so they may be unusual. */
export const valueNamePattern = /^.{1,128}$/;

/** The entry of a credential's Secret with the TOTP secret in base32. It is not a value: never listed, never filled. */
export const totpEntry = "totp_secret";

/** The field of items for the codes of the TOTP secret. */
export const totpField = "totp";

/** Whether a stored value of this name is a field of items: the names of the TOTP secret and of its codes mean these alone (ITEM-20). */
export const isFieldName = (valueName: string): boolean => valueName !== totpEntry && valueName !== totpField;

export const CredentialSpec = z
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
 * The name of a credential's own Secret: the HTTP API writes it, and the operator deletes it with the credential, even if a user
 * created it. A Secret with another name belongs to a user and is only read.
 */
export const ownSecretName = (credentialName: string): string => secretNameFor(ownSecretPrefix, credentialName);

/** Whether the values are in the credential's own Secret. */
export const hasOwnSecret = ({ metadata, spec }: Credential): boolean =>
  spec.secretRef.name === ownSecretName(metadata.name);

/**
 * The HTTP API sets it when it finds that the stored TOTP secret is no base32 text, and removes it later: the operator may not read
 * the Secret. It holds nothing of the secret.
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

/** The kind Credential: what is known of a stored login; its values are in a Secret (VAULT-15). */
import { z } from "zod";
import { Conditions } from "./conditions.ts";
import { hostName } from "./host-name.ts";
import { apiGroup, type CustomResource, type Kind } from "./kind.ts";
import { observedGeneration } from "./observed-generation.ts";
import { secretNameFor } from "./secret-name.ts";
import { maxIdLength, namePattern } from "./selector.ts";

/** Most values of one credential. With `maxValueLength` they stay below the 1 MiB that a Secret may have, also encrypted. */
export const maxValues = 50;

/** Names of values: 1 to 128 characters of one line. They come from login forms, so they may be odd. */
export const valueNamePattern = /^.{1,128}$/;

/** The entry of a credential's Secret that holds the TOTP secret in base32. It is not a value: never listed, never filled. */
export const totpEntry = "totp_secret";

export const CredentialSpec = z
  .object({
    name: z
      .string()
      .regex(namePattern)
      .optional()
      .describe("The credential's name, unique within the project. Left out: metadata.name."),
    domain: hostName.describe("The domain that the login is for."),
    secretRef: z
      .object({ name: z.string().min(1).max(maxIdLength).describe("Its name.") })
      .describe("The Secret of the same namespace that holds the values, an entry each."),
    valueKeys: z
      .array(z.string().regex(valueNamePattern))
      .max(maxValues)
      .default([])
      .describe("The names of the stored values. Kept by the HTTP API for what it stores; YAML states them."),
    totp: z.boolean().default(false).describe("Whether the Secret has a TOTP secret, in base32, as totp_secret."),
    ssoProvider: z.string().min(1).max(255).optional().describe("The SSO provider to log in with, e.g. google."),
  })
  .describe("What is known of the login. Its values are in the Secret alone.");
export type CredentialSpec = z.infer<typeof CredentialSpec>;

export const CredentialStatus = z
  .object({ observedGeneration, conditions: Conditions })
  .describe("What is seen of the credential. Written by the operator.");

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
 * The Secret that belongs to a credential: written by the HTTP API, deleted by the operator with it, whoever made it. A
 * Secret of another name is its writer's: only read.
 */
export const ownSecretName = (credentialName: string): string => secretNameFor(ownSecretPrefix, credentialName);

/** Whether its values are in the Secret that belongs to it. */
export const hasOwnSecret = ({ metadata, spec }: Credential): boolean =>
  spec.secretRef.name === ownSecretName(metadata.name);

/**
 * Credential providers: stores outside of this service from which logins take their values. A provider is of the organization. Field
 * names as on the wire (the SDK's `credential_providers`), with further ones for what a store in the cluster needs.
 */
import { z } from "zod";
import { closedObject, documentedForms } from "../../../platform/kinds/document-rules.ts";

/** Most providers of an organization: each login that looks in all of them asks them one by one. */
export const mostProviders = 20;

/** Kinds of stores that are known. Only the first is served: a store that runs in the cluster. */
const providerTypes = ["kubernetes", "onepassword", "vault"] as const;

/** Seconds for which a list of items is used again, unless the provider says otherwise. */
const usualCacheSeconds = 300;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
const visibleText = /^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/u;

const fields = {
  name: z
    .string()
    .max(255)
    .regex(visibleText, "must have a visible character, no control characters")
    .describe("The provider's name, unique in the organization, without the blanks around it."),
  token: z
    .string()
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters")
    .describe("The token of a ServiceAccount that may list the Secrets of the namespace. No answer has it."),
  cache_ttl_seconds: z.int().min(0).max(3600).describe("Seconds for which a list of items is used again."),
  namespace: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe("The namespace of the Secrets that are the items."),
  label_selector: z
    .string()
    .max(512)
    .regex(/^[\x20-\x7e]*$/, "must be ASCII characters")
    .describe("Which Secrets of the namespace are items, in the form of kubectl; empty: all with addresses."),
  projects: z
    .array(z.string().min(1).max(63))
    .min(1)
    .max(100)
    .nullable()
    .describe("Ids of the only projects whose connections may use it; null: all of the organization."),
};

/** Unknown fields are refused: one about rights that was dropped would leave more than was asked for. */
export const CreateProvider = documentedForms(
  closedObject(
    z.strictObject({
      name: fields.name,
      provider_type: z
        .enum(providerTypes)
        .describe("kubernetes: Secrets of a namespace. Not supported here: onepassword and vault are refused."),
      token: fields.token,
      cache_ttl_seconds: fields.cache_ttl_seconds.default(usualCacheSeconds),
      namespace: fields.namespace.optional(),
      label_selector: fields.label_selector.default(""),
      projects: fields.projects.optional(),
    }),
  ),
  [
    { properties: { provider_type: { const: "kubernetes" } }, required: ["namespace"] },
    { properties: { provider_type: { enum: ["onepassword", "vault"] } } },
  ],
);
export type CreateProvider = z.infer<typeof CreateProvider>;

/** A change of a provider; what is left out stays. */
export const UpdateProvider = closedObject(
  z.strictObject({
    name: fields.name.optional(),
    token: fields.token.optional().describe("The new token; the old one is not used any more."),
    cache_ttl_seconds: fields.cache_ttl_seconds.optional(),
    enabled: z.boolean().optional().describe("False: no login takes values from it."),
    priority: z.int().min(0).max(10_000).optional().describe("Lower numbers are looked at first."),
    namespace: fields.namespace.optional(),
    label_selector: fields.label_selector.optional(),
    projects: fields.projects.optional(),
  }),
);
export type UpdateProvider = z.infer<typeof UpdateProvider>;

export const ProviderAnswer = z.object({
  id: z.string().describe("The provider's id."),
  name: z.string().describe("The provider's name."),
  provider_type: z.enum(providerTypes).extract(["kubernetes"]),
  enabled: z.boolean().describe("Whether logins take values from it."),
  priority: z.int().describe("Lower numbers are looked at first."),
  cache_ttl_seconds: z.int().describe("Seconds for which a list of items is used again."),
  namespace: z.string().describe("The namespace of the Secrets."),
  label_selector: z.string().describe("Which Secrets of it are items; empty: all with addresses."),
  projects: z.array(z.string()).nullable().describe("The only projects whose connections may use it; null: all."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ProviderAnswer = z.infer<typeof ProviderAnswer>;

const ProviderItem = z.object({
  id: z.string().describe("The uid of the Secret."),
  path: z.string().describe("The namespace and the name of the Secret, as connections give it."),
  title: z.string().describe("What the Secret is called."),
  vault_id: z.string().describe("The namespace."),
  vault_name: z.string().describe("The namespace."),
  urls: z.array(z.string()).describe("The addresses that the login is for. Values are typed at their origins alone."),
});
export type ProviderItem = z.infer<typeof ProviderItem>;

/** All items of a provider; names and addresses only. */
export const ProviderItems = z.object({ items: z.array(ProviderItem) });

export const ProviderTest = z.object({
  success: z.boolean().describe("Whether the Secrets could be listed."),
  vaults: z.array(z.object({ id: z.string(), name: z.string() })).describe("The namespace, if they could."),
  error: z.string().optional().describe("Why they could not."),
});
export type ProviderTest = z.infer<typeof ProviderTest>;

/**
 * Credential providers: stores outside of this service from which logins take their values. A provider is of the organization. Field
 * names as on the wire (the SDK's `credential_providers`), with further ones for what a store in the cluster needs.
 */
import { z } from "zod";
import { closedObject, documentedForms } from "../../../platform/kinds/document-rules.ts";

/** Most providers of an organization: each login that looks in all of them asks them one by one. */
export const mostProviders = 20;

/** Kinds of stores that are known; `onepassword` is not served. */
const providerTypes = ["kubernetes", "vault", "onepassword"] as const;

/** Seconds for which a list of items is used again, unless the provider says otherwise. */
const usualCacheSeconds = 300;

/** The name of a namespace in a cluster. */
export const clusterNamespace = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it keeps out
const visibleText = /^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/u;

/** The parts of a path in a Vault; none begins with a dot. */
const vaultPath = /^([A-Za-z0-9_-][A-Za-z0-9_.@+-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.@+-]*)*)?$/;

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
    .describe(
      "What lets in: the token of a ServiceAccount that may list the Secrets of the namespace, or Vault's. No answer has it.",
    ),
  cache_ttl_seconds: z.int().min(0).max(3600).describe("Seconds for which a list of items is used again."),
  namespace: z
    .string()
    .max(255)
    .regex(vaultPath)
    .describe(
      "kubernetes: the namespace of the Secrets that are the items. vault: the namespace of the mount, if any.",
    ),
  label_selector: z
    .string()
    .max(512)
    .regex(/^[\x20-\x7e]*$/, "must be ASCII characters")
    .describe(
      "kubernetes: which Secrets of the namespace are items, in the form of kubectl; empty: all with addresses.",
    ),
  address: z
    .string()
    .max(255)
    .regex(/^https?:\/\/[^/?#@\s]+$/, "must be an origin such as https://vault.example:8200")
    .describe("vault: the server's origin, as it is among those that the configuration of the service allows."),
  mount: z
    .string()
    .min(1)
    .max(255)
    .regex(vaultPath)
    .describe("vault: where the key-value store, version 2, is mounted; left out: secret."),
  path_prefix: z
    .string()
    .max(512)
    .regex(vaultPath)
    .describe("vault: the folder of the mount whose entries are the items; empty: the whole mount."),
  projects: z
    .array(z.string().min(1).max(63))
    .min(1)
    .max(100)
    .nullable()
    .describe("Ids of the only projects whose connections may use it; null: all of the organization."),
};

/** Where a store is; which fields there are is by its type. */
const placeFields = {
  namespace: fields.namespace.optional(),
  label_selector: fields.label_selector.optional(),
  address: fields.address.optional(),
  mount: fields.mount.optional(),
  path_prefix: fields.path_prefix.optional(),
};

const without = (...names: string[]): object => ({ not: { anyOf: names.map((name) => ({ required: [name] })) } });

/** Unknown fields are refused: one about rights that was dropped would leave more than was asked for. */
export const CreateProvider = documentedForms(
  closedObject(
    z.strictObject({
      name: fields.name,
      provider_type: z
        .enum(providerTypes)
        .describe(
          "kubernetes: Secrets of a namespace. vault: a key-value store of a HashiCorp Vault or an OpenBao. Not supported here: onepassword is refused.",
        ),
      token: fields.token,
      cache_ttl_seconds: fields.cache_ttl_seconds.default(usualCacheSeconds),
      ...placeFields,
      projects: fields.projects.optional(),
    }),
  ),
  [
    {
      properties: { provider_type: { const: "kubernetes" }, namespace: { pattern: clusterNamespace.source } },
      required: ["namespace"],
      ...without("address", "mount", "path_prefix"),
    },
    { properties: { provider_type: { const: "vault" } }, required: ["address"], ...without("label_selector") },
    { properties: { provider_type: { const: "onepassword" } } },
  ],
);
export type CreateProvider = z.infer<typeof CreateProvider>;

/** A change of a provider; what is left out stays. */
export const UpdateProvider = closedObject(
  z.strictObject({
    name: fields.name.optional(),
    token: fields.token
      .optional()
      .describe("The new token; the old one is not used any more. Another address needs one."),
    cache_ttl_seconds: fields.cache_ttl_seconds.optional(),
    enabled: z.boolean().optional().describe("False: no login takes values from it."),
    priority: z.int().min(0).max(10_000).optional().describe("Lower numbers are looked at first."),
    ...placeFields,
    projects: fields.projects.optional(),
  }),
);
export type UpdateProvider = z.infer<typeof UpdateProvider>;

const answered = {
  id: z.string().describe("The provider's id."),
  name: z.string().describe("The provider's name."),
  enabled: z.boolean().describe("Whether logins take values from it."),
  priority: z.int().describe("Lower numbers are looked at first."),
  cache_ttl_seconds: z.int().describe("Seconds for which a list of items is used again."),
  projects: z.array(z.string()).nullable().describe("The only projects whose connections may use it; null: all."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

/** Where Secrets of a cluster are. */
const KubernetesPlace = z.object({
  provider_type: z.literal("kubernetes"),
  namespace: z.string().describe("The namespace of the Secrets."),
  label_selector: z.string().describe("Which Secrets of it are items; empty: all with addresses."),
});

/** Where entries of a Vault are. */
const VaultPlace = z.object({
  provider_type: z.literal("vault"),
  address: z.string().describe("The server's origin."),
  namespace: z.string().describe("The namespace of the mount; empty: none."),
  mount: z.string().describe("Where the key-value store is mounted."),
  path_prefix: z.string().describe("The folder whose entries are items; empty: the whole mount."),
});
/** Where a store is. */
export type ProviderPlace = z.infer<typeof KubernetesPlace> | z.infer<typeof VaultPlace>;

/** A provider without its token. */
export const ProviderAnswer = z.discriminatedUnion("provider_type", [
  KubernetesPlace.extend(answered),
  VaultPlace.extend(answered),
]);
export type ProviderAnswer = z.infer<typeof ProviderAnswer>;

const ProviderItem = z.object({
  id: z.string().describe("The uid of the Secret, or the path of the entry."),
  path: z
    .string()
    .describe("Namespace and name of the Secret, or mount and path of the entry, as connections give it."),
  title: z.string().describe("What the item is called."),
  vault_id: z.string().describe("The namespace, or the mount."),
  vault_name: z.string().describe("The namespace, or the mount."),
  urls: z.array(z.string()).describe("The addresses that the login is for. Values are typed at their origins alone."),
});
export type ProviderItem = z.infer<typeof ProviderItem>;

/** All items of a provider; names and addresses only. */
export const ProviderItems = z.object({ items: z.array(ProviderItem) });

export const ProviderTest = z.object({
  success: z.boolean().describe("Whether the items could be listed."),
  vaults: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .describe("The namespace or the mount, if they could."),
  error: z.string().optional().describe("Why they could not."),
});
export type ProviderTest = z.infer<typeof ProviderTest>;

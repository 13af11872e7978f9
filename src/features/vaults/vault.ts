/** The kind Vault: a named set of items that can be attached to browsers (VAULT-8). */
import { z } from "zod";
import { Conditions, observedGeneration } from "../../platform/kinds/conditions.ts";
import { closedObject } from "../../platform/kinds/document-rules.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../platform/kinds/kind.ts";
import { nameOnWire, objectName } from "../../platform/kinds/selector.ts";
import { wireSchema } from "../../platform/kinds/wire.ts";
import { totpEntry, totpField } from "./credentials/credential.ts";
import { VaultItemSpec } from "./items/vault-item.ts";

const VaultSpec = z
  .object({
    name: objectName
      .optional()
      .describe("The vault's name, unique within the project. Left out: metadata.name. It cannot change."),
  })
  .meta(
    validations({
      rule: "has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)",
      message: "the name of a vault cannot change",
      fieldPath: ".name",
    }),
  )
  .describe("The vault's name. Its items are separate objects.");

const VaultStatus = z
  .object({ observedGeneration, conditions: Conditions })
  .describe("The observed state of the vault. Written by the operator.");

export type Vault = CustomResource<typeof VaultSpec, typeof VaultStatus>;

export const vaultKind: Kind<typeof VaultSpec, typeof VaultStatus> = {
  ...apiGroup,
  kind: "Vault",
  plural: "vaults",
  shortNames: ["vlt"],
  namespaced: true,
  description:
    "A set of stored logins that can be attached to browsers; their values are typed into pages, never given out.",
  spec: VaultSpec,
  status: VaultStatus,
  printerColumns: [
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

// Vaults and their items over HTTP; field names as on the wire.

/** The whole of a vault that callers set. */
export const UpsertVault = closedObject(
  z.strictObject({ name: nameOnWire.describe("The vault's name, unique within the project.") }),
);
export type UpsertVault = z.infer<typeof UpsertVault>;

export const VaultAnswer = z.object({
  id: z.string().describe("The vault's id."),
  name: z.string().optional().describe("The vault's name."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type VaultAnswer = z.infer<typeof VaultAnswer>;

const { type, provider } = VaultItemSpec.shape;

/** The spec of an item in requests and answers, without its key, in camelCase. */
export const ItemSpec = VaultItemSpec.omit({ vault: true, key: true, type: true }).extend({
  provider: provider.unwrap().describe(provider.description ?? ""),
});

const ItemSpecWire = wireSchema(ItemSpec);

/** Closed: an item whose allowed_origins are misspelled could be filled into any page. */
export const PutItem = closedObject(
  z.strictObject({
    type: type.unwrap().describe(type.description ?? ""),
    spec: wireSchema(closedObject(ItemSpec.extend({}))),
  }),
);
export type PutItem = z.infer<typeof PutItem>;

const Field = z.object({ type: z.enum(["text", "email", "password", "totp"]) });

export const ItemAnswer = z.object({
  id: z.string().describe("The item's id."),
  key: z.string().describe("The item's name in its vault."),
  type: z.literal("credential"),
  version: z.literal(1).describe("Always 1: an item does not change, only its connection's credential."),
  spec: ItemSpecWire,
  state: z.object({
    provider: z.literal("managed_auth"),
    status: z.enum(["ready", "unavailable"]).describe("Computed on every read."),
    status_reason: z
      .enum(["no_credential", "connection_not_found", "external_credential"])
      .optional()
      .describe("Why it is unavailable."),
    fields: z
      .record(z.string(), Field)
      .optional()
      .describe(
        `The fields that can be filled, by name; left out of lists. A value named ${totpEntry} or ${totpField} is never listed.`,
      ),
  }),
  available_operations: z
    .array(z.object({ type: z.literal("fill"), description: z.string() }))
    .describe("The operations that the item allows now; empty while it is unavailable."),
  available_expansions: z.array(z.never()).describe("Always empty."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type ItemAnswer = z.infer<typeof ItemAnswer>;

export const ItemEventAnswer = z.object({
  id: z.string().describe("Send it as `after` to get the events that follow."),
  time: z.iso.datetime(),
  created_at: z.iso.datetime().describe("The same as time."),
  type: z.enum(["created", "deleted", "fill"]),
  name: z.string().describe("The same as type."),
  actor: z.object({ id: z.string(), name: z.string().optional() }).describe("The API key of the request."),
  item: z.string().describe("The item's key."),
  browser_id: z.string().optional(),
  origin: z.string().optional().describe("Origin of the page."),
  outcome: z.string().optional().describe("The result of the fill."),
});

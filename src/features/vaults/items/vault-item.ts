/** The kind VaultItem: a login in a vault. It refers to a connection and contains no values (ITEM-7). */
import { z } from "zod";
import { originList } from "../../../platform/addresses/allowed-origins.ts";
import { Conditions, observedGeneration } from "../../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, celRules, type Kind, validations } from "../../../platform/kinds/kind.ts";
import { itemKey, maxIdLength } from "../../../platform/kinds/selector.ts";

const fixedRules = (what: string) => [{ rule: "self == oldSelf", message: `${what} of an item cannot change` }];
const fixed = (what: string) => validations(...fixedRules(what));

export const VaultItemSpec = z
  .object({
    vault: z
      .string()
      .min(1)
      .max(maxIdLength)
      .meta(fixed("the vault"))
      .describe("The vault's id, which is its metadata.name."),
    key: itemKey
      .meta(validations(...celRules(itemKey), ...fixedRules("the key")))
      .describe("The item's name in its vault; unique there."),
    type: z.enum(["credential"]).default("credential").describe("The type of the item."),
    provider: z.enum(["managed_auth"]).default("managed_auth").describe("The source of the item's values."),
    connectionId: z
      .string()
      .min(1)
      .max(maxIdLength)
      .meta(fixed("the connection"))
      .describe("The id of the AuthConnection, which is its metadata.name. Fixed for the life of the item."),
    description: z.string().max(1024).optional().describe("A label for people."),
    allowedOrigins: originList(1)
      .optional()
      .describe(
        "The only origins whose pages may be filled, e.g. https://shop.example. Narrows those of the connection and its credential. Left out: theirs.",
      ),
  })
  .describe("The login that the item refers to.");
export type VaultItemSpec = z.infer<typeof VaultItemSpec>;

export const VaultItemStatus = z
  .object({
    observedGeneration,
    conditions: Conditions,
    state: z
      .enum(["ready", "unavailable"])
      .optional()
      .describe("Whether the login can be filled, by the custom resources alone; the HTTP API also checks the Secret."),
    connectionUid: z
      .string()
      .max(64)
      .optional()
      .describe("The connection's metadata.uid. A later connection with the same name does not replace it."),
  })
  .describe("The observed state of the item. Written by the operator.");
export type VaultItemStatus = z.infer<typeof VaultItemStatus>;

export type VaultItem = CustomResource<typeof VaultItemSpec, typeof VaultItemStatus>;

export const vaultItemKind: Kind<typeof VaultItemSpec, typeof VaultItemStatus> = {
  ...apiGroup,
  kind: "VaultItem",
  plural: "vaultitems",
  shortNames: ["vi"],
  namespaced: true,
  description: "A login in a vault. It refers to a connection, whose saved credential is read at each use.",
  spec: VaultItemSpec,
  status: VaultItemStatus,
  printerColumns: [
    { name: "Vault", type: "string", jsonPath: ".spec.vault" },
    { name: "Key", type: "string", jsonPath: ".spec.key" },
    { name: "Provider", type: "string", jsonPath: ".spec.provider" },
    { name: "Status", type: "string", jsonPath: ".status.state" },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
};

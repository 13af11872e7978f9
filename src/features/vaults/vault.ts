/** The kind Vault: a named set of items that can be attached to browsers (VAULT-8). */
import { z } from "zod";
import { Conditions } from "../../platform/kinds/conditions.ts";
import { apiGroup, type CustomResource, type Kind, validations } from "../../platform/kinds/kind.ts";
import { observedGeneration } from "../../platform/kinds/observed-generation.ts";
import { objectName } from "../../platform/kinds/selector.ts";

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

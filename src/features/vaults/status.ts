import { acceptedDraft, conditionsOf, type Draft } from "../../core/reconcile/conditions.ts";
import type { Vault } from "./vault.ts";

/** The status of a vault, pure. `holder`: the oldest vault with this name, which may be the vault itself. */
export const vaultStatus = (
  vault: Vault,
  { holder, nowMs }: { holder: Vault; nowMs: number },
): NonNullable<Vault["status"]> => {
  const taken =
    holder.metadata.uid === vault.metadata.uid
      ? undefined
      : { reason: "NameTaken", message: `spec.name: the vault ${holder.metadata.name} has this name` };
  const ready: Draft = { type: "Ready", status: true, reason: "Ready", message: "the vault can be used" };
  return {
    observedGeneration: vault.metadata.generation ?? 0,
    conditions: conditionsOf(vault, [acceptedDraft(taken), ready], nowMs),
  };
};

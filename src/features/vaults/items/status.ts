import { acceptedDraft, conditionsOf, type Draft } from "../../../core/reconcile/conditions.ts";
import type { AuthConnection } from "../connections/auth-connection.ts";
import { hasUnusableTotp } from "../credentials/credential.ts";
import { type CredentialSource, originsOf } from "./rules/item-source.ts";
import { type ItemSource, type ItemState, itemState, type StatusReason } from "./rules/item-state.ts";
import type { VaultItem, VaultItemStatus } from "./vault-item.ts";

type ObservedItem = {
  item: VaultItem;
  hasVault: boolean;
  /** The oldest item with this key in the vault, which may be the item itself. */
  holder: VaultItem;
  connection: AuthConnection | undefined;
  source: CredentialSource;
  nowMs: number;
};

const unavailable: Record<StatusReason, { reason: string; message: string }> = {
  no_credential: { reason: "NoCredential", message: "the connection has no saved credential with a value in it" },
  connection_not_found: {
    reason: "ConnectionNotFound",
    message: "the connection is gone; make a new item for another",
  },
  external_credential: { reason: "ExternalCredential", message: "an external provider keeps the credential" },
};

/** The source by the credential's object: the operator may not read the Secret with the values. */
const sourceBySpec = (source: CredentialSource): ItemSource => {
  if (source.is !== "credential") return source;
  const { valueKeys, totp } = source.credential.spec;
  return { is: "stored", login: { valueNames: valueKeys, hasTotp: totp && !hasUnusableTotp(source.credential) } };
};

const refusalOf = ({ item, hasVault, holder }: ObservedItem): { reason: string; message: string } | undefined => {
  if (!hasVault) return { reason: "VaultNotFound", message: `spec.vault: there is no vault ${item.spec.vault}` };
  if (holder.metadata.uid === item.metadata.uid) return undefined;
  return { reason: "KeyTaken", message: `spec.key: the item ${holder.metadata.name} has this key in the vault` };
};

const noOrigin = {
  reason: "NoOrigin",
  message: "the allowedOrigins of credential, connection and item have nothing in common, so no page can be filled",
};

const readyDraft = ({ item, connection, source }: ObservedItem, state: ItemState): Draft => {
  const type = "Ready";
  if (state.status === "unavailable") return { type, status: false, ...unavailable[state.reason] };
  if (originsOf(item, connection, source)?.length === 0) return { type, status: false, ...noOrigin };
  return { type, status: true, reason: "Ready", message: "the connection has a saved credential" };
};

/**
 * The status of an item, pure. It keeps the uid of its first connection: a later connection of the same name does not
 * count.
 */
export const itemStatus = (observed: ObservedItem): VaultItemStatus => {
  const { item, connection, source, nowMs } = observed;
  const state = itemState(sourceBySpec(source));
  const refusal = refusalOf(observed);
  const connectionUid = item.status?.connectionUid ?? connection?.metadata.uid;
  return {
    observedGeneration: item.metadata.generation ?? 0,
    conditions: conditionsOf(item, [acceptedDraft(refusal), readyDraft(observed, state)], nowMs),
    state: refusal ? "unavailable" : state.status,
    ...(connectionUid !== undefined && { connectionUid }),
  };
};

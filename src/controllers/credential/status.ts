import type { Credential } from "../../resources/credential.ts";
import { acceptedDraft, conditionsOf } from "../conditions.ts";

/**
 * The status of a credential, pure; from its spec, since the operator may not read Secrets. `holder`: the oldest credential with
 * this name.
 */
export const credentialStatus = (
  credential: Credential,
  { holder, nowMs }: { holder: Credential; nowMs: number },
): NonNullable<Credential["status"]> => {
  const { valueKeys, totp } = credential.spec;
  const taken =
    holder.metadata.uid === credential.metadata.uid
      ? undefined
      : { reason: "NameTaken", message: `spec.name: the credential ${holder.metadata.name} has this name` };
  const stored =
    valueKeys.length > 0 || totp
      ? { status: true, reason: "Stored", message: "a login is stored" }
      : { status: false, reason: "Empty", message: "nothing is stored" };
  const ready = taken ? { status: false, ...taken } : stored;
  return {
    observedGeneration: credential.metadata.generation ?? 0,
    conditions: conditionsOf(credential, [acceptedDraft(taken), { type: "Ready", ...ready }], nowMs),
  };
};

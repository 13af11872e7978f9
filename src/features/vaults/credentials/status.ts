import { acceptedDraft, conditionsOf } from "../../../core/reconcile/conditions.ts";
import { type Credential, hasUnusableTotp, storesLogin } from "./credential.ts";

const notBase32 = "its totp_secret is no base32 text, so it gives no codes";

const storedLogin = (credential: Credential) => {
  const message = hasUnusableTotp(credential) ? `a login is stored, but ${notBase32}` : "a login is stored";
  return { status: true, reason: "Stored", message };
};

const noLogin = (credential: Credential) =>
  hasUnusableTotp(credential)
    ? { status: false, reason: "TotpNotBase32", message: notBase32 }
    : { status: false, reason: "Empty", message: "nothing is stored" };

/**
 * The status of a credential, pure; from its spec, since the operator may not read Secrets. `holder`: the oldest
 * credential with this name.
 */
export const credentialStatus = (
  credential: Credential,
  { holder, nowMs }: { holder: Credential; nowMs: number },
): NonNullable<Credential["status"]> => {
  const taken =
    holder.metadata.uid === credential.metadata.uid
      ? undefined
      : { reason: "NameTaken", message: `spec.name: the credential ${holder.metadata.name} has this name` };
  const stored = storesLogin(credential) ? storedLogin(credential) : noLogin(credential);
  return {
    observedGeneration: credential.metadata.generation ?? 0,
    conditions: conditionsOf(credential, [acceptedDraft(taken), { type: "Ready", ...stored }], nowMs),
  };
};

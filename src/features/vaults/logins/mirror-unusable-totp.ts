import type { Kube } from "../../../platform/kube/client.ts";
import { type Credential, credentialKind, hasUnusableTotp, unusableTotpAnnotation } from "../credentials/credential.ts";

/**
 * Tells the operator, which may not read Secrets, whether the stored TOTP secret is no base32 text: by an annotation of the
 * credential, written when that changes. Never rejects; the next read of the Secret tries again.
 */
export const mirrorUnusableTotp = async (
  credential: Credential,
  isUnusable: boolean,
  { kube }: { kube: Kube },
): Promise<void> => {
  if (isUnusable === hasUnusableTotp(credential)) return;
  const annotations = { [unusableTotpAnnotation]: isUnusable ? "not-base32" : null };
  await kube.patch(credentialKind, credential.metadata, { metadata: { annotations } }).catch(() => undefined);
};

import type { Sensitive } from "../../../platform/base/sensitive.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { totpCode } from "../logins/rules/totp.ts";
import { fetchLoginShape, listedLoginShape } from "../logins/stored-login.ts";
import type { Credential } from "./credential.ts";
import type { CredentialRecord } from "./credential-wire.ts";

type Deps = { kube: Kube; secretsKeys: SecretsKeys };

type Shape = Awaited<ReturnType<typeof listedLoginShape>>;

const record = (credential: Credential, { valueNames, hasTotp, hasUnusableTotp }: Shape): CredentialRecord => ({
  id: wireId(credential),
  name: wireName(credential) ?? wireId(credential),
  domain: credential.spec.domain,
  has_values: valueNames.length > 0,
  has_totp_secret: hasTotp,
  ...(hasUnusableTotp && { totp_secret_problem: "not_base32" as const }),
  sso_provider: credential.spec.ssoProvider ?? null,
  ...(credential.spec.allowedOrigins && { allowed_origins: credential.spec.allowedOrigins }),
  created_at: createdAt(credential),
  updated_at: updatedAt(credential),
});

/** A credential as HTTP lists show it: without the names of its values. */
export const listedCredential = async (credential: Credential, deps: Deps): Promise<CredentialRecord> =>
  record(credential, await listedLoginShape(credential, deps));

/**
 * A credential as HTTP answers show it; reads the names of its values from its Secret. `newTotpSecret`: the one that the request has just
 * stored.
 */
export const credentialAnswer = async (
  credential: Credential,
  deps: Deps,
  newTotpSecret?: Sensitive,
): Promise<CredentialRecord> => {
  const shape = await fetchLoginShape(credential, deps);
  const code = newTotpSecret && totpCode(newTotpSecret.reveal(), Date.now());
  return {
    ...record(credential, shape),
    value_keys: shape.names,
    ...(code && { totp_code: code.code, totp_code_expires_at: new Date(code.expiresAtMs).toISOString() }),
  };
};

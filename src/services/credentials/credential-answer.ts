import { totpCode } from "../../domain/totp.ts";
import type { Credential } from "../../resources/credential.ts";
import type { CredentialRecord } from "../../resources/credential-wire.ts";
import { createdAt, updatedAt, wireId, wireName } from "../../resources/identity.ts";
import type { Sensitive } from "../../sensitive.ts";
import { fetchLoginShape } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** The parts of a credential that an answer shows. `newTotpSecret`: the one that the request has just stored. */
type Shown = { valueKeys: boolean; newTotpSecret?: Sensitive | undefined };

/** A credential as HTTP answers show it; reads the names of its values from its Secret. */
export const credentialAnswer = async (
  credential: Credential,
  { valueKeys, newTotpSecret }: Shown,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys">,
): Promise<CredentialRecord> => {
  const { names, valueNames, hasTotp, hasUnusableTotp } = await fetchLoginShape(credential, deps);
  const code = newTotpSecret && totpCode(newTotpSecret.reveal(), Date.now());
  return {
    id: wireId(credential),
    name: wireName(credential) ?? wireId(credential),
    domain: credential.spec.domain,
    has_values: valueNames.length > 0,
    has_totp_secret: hasTotp,
    ...(hasUnusableTotp && { totp_secret_problem: "not_base32" as const }),
    ...(valueKeys && { value_keys: names }),
    sso_provider: credential.spec.ssoProvider ?? null,
    ...(credential.spec.allowedOrigins && { allowed_origins: credential.spec.allowedOrigins }),
    ...(code && { totp_code: code.code, totp_code_expires_at: new Date(code.expiresAtMs).toISOString() }),
    created_at: createdAt(credential),
    updated_at: updatedAt(credential),
  };
};

import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { SecretsKeys } from "../../../platform/secrets/secrets-key.ts";
import { type TotpCode, totpCode } from "../logins/rules/totp.ts";
import { openLogin } from "../logins/stored-login.ts";
import { fetchCredential } from "./fetch-credential.ts";

/**
 * The present TOTP code. Throws `not_found`, also for a credential without a TOTP secret, and `conflict` for a malformed secret.
 */
export const readTotpCode = async (
  idOrName: string,
  project: Project,
  deps: { kube: Kube; secretsKeys: SecretsKeys },
): Promise<TotpCode> => {
  const { totpSecret } = await openLogin(await fetchCredential(idOrName, project, deps), deps);
  if (!totpSecret) throw new AppError("not_found", `credential ${idOrName} has no TOTP secret`);
  const code = totpCode(totpSecret.reveal(), Date.now());
  if (!code) throw new AppError("conflict", `the TOTP secret of credential ${idOrName} is no base32 text`);
  return code;
};

import { type TotpCode, totpCode } from "../../domain/totp.ts";
import { AppError } from "../../errors.ts";
import type { Project } from "../projects/projects.ts";
import { openLogin } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { fetchCredential } from "./fetch-credential.ts";

/**
 * The present TOTP code. Throws `not_found`, also for a credential without a TOTP secret, and `conflict` for a malformed secret.
 */
export const readTotpCode = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys">,
): Promise<TotpCode> => {
  const { totpSecret } = await openLogin(await fetchCredential(idOrName, project, deps), deps);
  if (!totpSecret) throw new AppError("not_found", `credential ${idOrName} has no TOTP secret`);
  const code = totpCode(totpSecret.reveal(), Date.now());
  if (!code) throw new AppError("conflict", `the TOTP secret of credential ${idOrName} is no base32 text`);
  return code;
};

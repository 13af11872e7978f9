import { normalizeTotpSecret } from "../../domain/totp.ts";
import { AppError } from "../../errors.ts";
import { Sensitive } from "../../sensitive.ts";
import type { Project } from "../projects.ts";
import { openLogin } from "../secrets/stored-login.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { currentCode } from "./credential-answer.ts";
import { readCredential } from "./find-credential.ts";

/** The code of this moment. Throws `not_found`, also for a credential without a TOTP secret. */
export const readTotpCode = async (
  idOrName: string,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "secretsKeys">,
): Promise<{ code: string; expiresAt: string }> => {
  const { totpSecret } = await openLogin(await readCredential(idOrName, project, deps), deps);
  if (!totpSecret) throw new AppError("not_found", `credential ${idOrName} has no TOTP secret`);
  // What YAML stores was never checked.
  const base32 = normalizeTotpSecret(totpSecret.reveal());
  if (base32 === undefined)
    throw new AppError("conflict", `the TOTP secret of credential ${idOrName} is no base32 text`);
  return currentCode(new Sensitive(base32));
};

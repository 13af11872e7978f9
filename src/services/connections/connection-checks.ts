import { isDeepStrictEqual } from "node:util";
import { wideningProblems } from "../../domain/allowed-origins.ts";
import type { ConnectionResult } from "../../domain/connection-spec.ts";
import { credentialOfName, originLimits } from "../../domain/item-source.ts";
import { type AppError, invalidInput, notSupportedHere } from "../../errors.ts";
import type { AuthConnectionSpec } from "../../resources/auth-connection.ts";
import { fetchCredentials } from "../credentials/fetch-credential.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** The error for a refused request: `bad_request`, or `not_supported_here` (CONNECTION-21). */
export const refusedRequest = ({ kind, problems }: Extract<ConnectionResult, { ok: false }>): AppError =>
  kind === "invalid" ? invalidInput(problems) : notSupportedHere(problems);

/**
 * Throws `bad_request` when a spec names a credential that does not exist, or has an origin that the credential does not allow
 * (CONNECTION-22). What the spec `before` had already is no fault of this request.
 */
export const requireCredential = async (
  { spec, before, project }: { spec: AuthConnectionSpec; before?: AuthConnectionSpec; project: Project },
  deps: Pick<ServiceDeps, "kube">,
): Promise<void> => {
  const name = spec.credential?.name;
  const isLinked = isDeepStrictEqual(spec.credential, before?.credential);
  const hasOrigins = isDeepStrictEqual(spec.allowedOrigins, before?.allowedOrigins);
  if (name === undefined || (isLinked && hasOrigins)) return;
  const credential = credentialOfName(await fetchCredentials(project, deps), name);
  if (!credential && isLinked) return;
  if (!credential)
    throw invalidInput([{ path: "credential.name", message: `no credential with name ${name} in this project` }]);
  const limits = originLimits(undefined, { is: "credential", credential });
  const details = wideningProblems(spec.allowedOrigins, limits, "allowed_origins");
  if (details.length > 0) throw invalidInput(details);
};

import { isDeepStrictEqual } from "node:util";
import type { Project } from "../../../core/projects/projects.ts";
import { wideningProblems } from "../../../platform/addresses/allowed-origins.ts";
import { type AppError, invalidInput, notSupportedHere } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { fetchCredentials } from "../credentials/fetch-credential.ts";
import { credentialOfName, originLimits } from "../items/rules/item-source.ts";
import type { AuthConnectionSpec } from "./auth-connection.ts";
import type { ConnectionResult } from "./rules/connection-spec.ts";

/** The error for a refused request: `bad_request`, or `not_supported_here` (CONNECTION-21). */
export const refusedRequest = ({ kind, problems }: Extract<ConnectionResult, { ok: false }>): AppError =>
  kind === "invalid" ? invalidInput(problems) : notSupportedHere(problems);

/**
 * Throws `bad_request` when a spec names a credential that does not exist, or has an origin that the credential does not allow
 * (CONNECTION-22). What the spec `before` had already is no fault of this request.
 */
export const requireCredential = async (
  { spec, before, project }: { spec: AuthConnectionSpec; before?: AuthConnectionSpec; project: Project },
  deps: { kube: Kube },
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

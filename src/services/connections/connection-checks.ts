import { isDeepStrictEqual } from "node:util";
import { credentialOfName } from "../../domain/item-source.ts";
import { invalidInput } from "../../errors.ts";
import type { AuthConnectionSpec } from "../../resources/auth-connection.ts";
import { fetchCredentials } from "../credentials/fetch-credential.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

/** Throws `bad_request` when a spec names a credential that does not exist, unless the spec `before` named the same one. */
export const requireCredential = async (
  { spec, before, project }: { spec: AuthConnectionSpec; before?: AuthConnectionSpec; project: Project },
  deps: Pick<ServiceDeps, "kube">,
): Promise<void> => {
  const name = spec.credential?.name;
  if (name === undefined || isDeepStrictEqual(spec.credential, before?.credential)) return;
  if (!credentialOfName(await fetchCredentials(project, deps), name))
    throw invalidInput([{ path: "credential.name", message: `no credential with name ${name} in this project` }]);
};

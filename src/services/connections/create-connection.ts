import { newConnectionSpec } from "../../domain/connection-spec.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { authConnectionKind } from "../../resources/auth-connection.ts";
import type { ConnectionRecord, CreateConnection } from "../../resources/auth-connection-wire.ts";
import { secretFinalizer } from "../../resources/finalizers.ts";
import { newId } from "../objects/new-id.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { connectionAnswer } from "./connection-answer.ts";
import { requireCredential } from "./connection-checks.ts";
import { fetchConnections } from "./fetch-connection.ts";

/** Creates a connection. Throws `bad_request`, and `conflict` when the profile already has a connection for the domain. */
export const createConnection = async (
  request: CreateConnection,
  project: Project,
  deps: Pick<ServiceDeps, "kube" | "locks">,
): Promise<ConnectionRecord> => {
  const made = newConnectionSpec(request);
  if (!made.ok) throw invalidInput(made.problems);
  const { domain, profileName } = made.spec;
  await requireCredential({ spec: made.spec, project }, deps);
  return deps.locks.hold(["connection", project.namespace, profileName, domain], async () => {
    const rival = (await fetchConnections(project, deps)).find(
      ({ spec }) => spec.profileName === profileName && spec.domain.toLowerCase() === domain,
    );
    if (rival)
      throw new AppError("conflict", `profile ${profileName} has the connection ${rival.metadata.name} for ${domain}`);
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [secretFinalizer] };
    return connectionAnswer(await deps.kube.create(authConnectionKind, { metadata, spec: made.spec }));
  });
};

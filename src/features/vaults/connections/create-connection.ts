import { newId } from "../../../core/objects/new-id.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { secretFinalizer } from "../../../platform/kinds/finalizers.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { authConnectionKind } from "./auth-connection.ts";
import type { ConnectionRecord, CreateConnection } from "./auth-connection-wire.ts";
import { connectionAnswer } from "./connection-answer.ts";
import { refusedRequest, requireCredential } from "./connection-checks.ts";
import { newConnectionSpec } from "./rules/connection-spec.ts";
import { withProfile } from "./with-profile.ts";

/** Creates a connection. Throws `bad_request`, `not_supported_here`, and `conflict` when the profile already has a connection for the domain. */
export const createConnection = async (
  request: CreateConnection,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<ConnectionRecord> => {
  const made = newConnectionSpec(request);
  if (!made.ok) throw refusedRequest(made);
  const { spec } = made;
  await requireCredential({ spec, project }, deps);
  return withProfile({ spec, project }, deps, async () => {
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [secretFinalizer] };
    return connectionAnswer(await deps.kube.create(authConnectionKind, { metadata, spec }));
  });
};

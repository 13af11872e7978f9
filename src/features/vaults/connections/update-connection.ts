import { isDeepStrictEqual } from "node:util";
import { retryConflicts } from "../../../core/objects/retry-conflicts.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { updatedAtAnnotation } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type AuthConnection, authConnectionKind } from "./auth-connection.ts";
import type { ConnectionRecord, UpdateConnection } from "./auth-connection-wire.ts";
import { connectionAnswer } from "./connection-answer.ts";
import { refusedRequest, requireCredential } from "./connection-checks.ts";
import { fetchConnection } from "./fetch-connection.ts";
import { patchConnectionSpec } from "./rules/connection-spec.ts";

type Change = (connection: AuthConnection) => Promise<AuthConnection>;

/** Fetches a connection, and writes what `change` returns with the time of the change. Throws `not_found`. */
export const changeConnection = (
  { id, project }: { id: string; project: Project },
  deps: { kube: Kube },
  change: Change,
): Promise<AuthConnection> =>
  retryConflicts("the connection", async () => {
    const before = await fetchConnection(id, project, deps);
    const after = await change(before);
    if (isDeepStrictEqual(before, after)) return before;
    const annotations = { ...after.metadata.annotations, [updatedAtAnnotation]: new Date().toISOString() };
    const metadata = { ...after.metadata, annotations };
    return await deps.kube.replace(authConnectionKind, { ...after, metadata });
  });

/** Changes the given fields. Throws `not_found`, `bad_request` and `not_supported_here`. */
export const updateConnection = async (
  { id, request }: { id: string; request: UpdateConnection },
  project: Project,
  deps: { kube: Kube },
): Promise<ConnectionRecord> => {
  const written = await changeConnection({ id, project }, deps, async (before) => {
    const patched = patchConnectionSpec(before.spec, request);
    if (!patched.ok) throw refusedRequest(patched);
    await requireCredential({ spec: patched.spec, before: before.spec, project }, deps);
    return { ...before, spec: patched.spec };
  });
  return connectionAnswer(written);
};

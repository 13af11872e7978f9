import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { patchConnectionSpec } from "../../domain/connection-spec.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { hasReason } from "../../kube/kube-error.ts";
import { type AuthConnection, authConnectionKind } from "../../resources/auth-connection.ts";
import type { ConnectionRecord, UpdateConnection } from "../../resources/auth-connection-wire.ts";
import { updatedAtAnnotation } from "../../resources/identity.ts";
import type { Project } from "../projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { connectionAnswer } from "./connection-answer.ts";
import { requireCredential } from "./connection-checks.ts";
import { readConnection } from "./find-connection.ts";

type Change = (connection: AuthConnection) => Promise<AuthConnection>;

/** Tries to write over concurrent changes, the operator's among them, and the pause before the second one, ms. */
const writeTries = 8;
const firstRetryMs = 5;

const tryReplace = async (
  connection: AuthConnection,
  { kube }: Pick<ServiceDeps, "kube">,
): Promise<AuthConnection | undefined> => {
  try {
    return (await kube.replace(authConnectionKind, connection)) as AuthConnection;
  } catch (error) {
    if (hasReason(error, "Conflict")) return undefined;
    throw error;
  }
};

/** Writes what `change` makes of the connection as it is now, with the time of the change. Throws `not_found`. */
export const changeConnection = async (
  { id, project }: { id: string; project: Project },
  deps: Pick<ServiceDeps, "kube">,
  change: Change,
): Promise<AuthConnection> => {
  for (let tries = 0; tries < writeTries; tries++) {
    if (tries > 0) await sleep(firstRetryMs * 2 ** tries * Math.random());
    const before = await readConnection(id, project, deps);
    const after = await change(before);
    if (isDeepStrictEqual(before, after)) return before;
    const annotations = { ...after.metadata.annotations, [updatedAtAnnotation]: new Date().toISOString() };
    const written = await tryReplace({ ...after, metadata: { ...after.metadata, annotations } }, deps);
    if (written) return written;
  }
  throw new AppError("unavailable", "the connection is being changed by others; repeat the request", {
    retryAfterSeconds: 1,
  });
};

/** Changes what is given. Throws `not_found` and `bad_request`. */
export const updateConnection = async (
  { id, request }: { id: string; request: UpdateConnection },
  project: Project,
  deps: Pick<ServiceDeps, "kube">,
): Promise<ConnectionRecord> => {
  const written = await changeConnection({ id, project }, deps, async (before) => {
    const patched = patchConnectionSpec(before.spec, request);
    if (!patched.ok) throw invalidInput(patched.problems);
    await requireCredential({ spec: patched.spec, before: before.spec, project }, deps);
    return { ...before, spec: patched.spec };
  });
  return connectionAnswer(written);
};

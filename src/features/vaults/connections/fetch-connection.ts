import { fetchObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { type AuthConnection, authConnectionKind } from "./auth-connection.ts";

type Deps = { kube: Kube };

/** Fetches the connections of a project, oldest first. */
export const fetchConnections = (project: Pick<Project, "namespace">, deps: Deps): Promise<AuthConnection[]> =>
  fetchObjects(authConnectionKind, project, deps);

/** Fetches a connection by id; connections have no names. Throws `not_found`. */
export const fetchConnection = async (id: string, project: Project, deps: Deps): Promise<AuthConnection> => {
  const connection = await fetchObject(authConnectionKind, { id, project }, deps);
  if (!connection) throw new AppError("not_found", `no auth connection ${id} in this project`);
  return connection;
};

import { AppError } from "../../errors.ts";
import { type AuthConnection, authConnectionKind } from "../../resources/auth-connection.ts";
import { fetchObject, fetchObjects } from "../objects/fetch-object.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";

type Deps = Pick<ServiceDeps, "kube">;

/** Fetches the connections of a project, oldest first. */
export const fetchConnections = (project: Pick<Project, "namespace">, deps: Deps): Promise<AuthConnection[]> =>
  fetchObjects(authConnectionKind, project, deps);

/** Fetches a connection by id; connections have no names. Throws `not_found`. */
export const fetchConnection = async (id: string, project: Project, deps: Deps): Promise<AuthConnection> => {
  const connection = await fetchObject(authConnectionKind, { id, project }, deps);
  if (!connection) throw new AppError("not_found", `no auth connection ${id} in this project`);
  return connection;
};

/** What the hosted login page calls: whether its code is good, and to hand in what a person has typed. */

import { credentialOfName } from "../../domain/item-source.ts";
import { AppError } from "../../errors.ts";
import { type AuthConnection, authenticatedAtAnnotation } from "../../resources/auth-connection.ts";
import { storeCredential } from "../credentials/create-credential.ts";
import { readCredentials } from "../credentials/find-credential.ts";
import { changeCredential } from "../credentials/update-credential.ts";
import { newId } from "../new-id.ts";
import type { Project } from "../projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { readConnection } from "./find-connection.ts";
import { badLoginCode, isLoginCode, useLoginCode } from "./login-code.ts";
import { changeConnection } from "./update-connection.ts";

type Deps = Pick<ServiceDeps, "kube" | "turns" | "secretsKeys" | "projects">;

/** Where a person logs in, as the URL of the page and its code say. */
export type LoginVisit = { projectId: string; connectionId: string; code: string };

const visited = async (
  { projectId, connectionId }: LoginVisit,
  deps: Pick<Deps, "kube" | "projects">,
): Promise<{ project: Project; connection: AuthConnection }> => {
  const project = deps.projects.find(projectId);
  if (project?.status !== "active" || project.id !== projectId) throw badLoginCode();
  try {
    return { project, connection: await readConnection(connectionId, project, deps) };
  } catch (error) {
    throw error instanceof AppError && error.code === "not_found" ? badLoginCode() : error;
  }
};

/** The connection that a person may log in to with this code, which stays good. Throws `forbidden`. */
export const checkLogin = async (visit: LoginVisit, deps: Pick<Deps, "kube" | "projects">): Promise<AuthConnection> => {
  const { connection } = await visited(visit, deps);
  if (!(await isLoginCode(connection, visit.code, deps))) throw badLoginCode();
  return connection;
};

/** A name for the credential of a connection that people recognise, and that nobody else has. */
const newCredentialName = ({ spec }: AuthConnection): string =>
  `${spec.domain}-${spec.profileName}`
    .replace(/[^a-zA-Z0-9._-]/g, "-")
    .slice(0, 230)
    .concat("-", newId());

/** Saves values as the connection's credential; answers the name of a credential that was made for it. */
const save = async (
  connection: AuthConnection,
  { values, project }: { values: Record<string, string>; project: Project },
  deps: Deps,
): Promise<string | undefined> => {
  const { credential: linked, saveCredentials, domain } = connection.spec;
  if (!saveCredentials || linked?.provider !== undefined) return undefined;
  const known = linked?.name && credentialOfName(await readCredentials(project, deps), linked.name);
  if (known) {
    await changeCredential(known, { request: { values }, project }, deps);
    return undefined;
  }
  const { credential } = await storeCredential({ name: newCredentialName(connection), domain, values }, project, deps);
  return credential.spec.name;
};

/**
 * Takes in a login: uses the code up, saves the values as the connection's credential (unless it says otherwise or keeps
 * its credential elsewhere) and makes the connection `AUTHENTICATED`. One-time codes must not be among the values. Throws
 * `forbidden` for a code that is not good, `bad_request` for values that can't be stored.
 */
export const collectLogin = async (visit: LoginVisit, values: Record<string, string>, deps: Deps): Promise<void> => {
  const { project, connection } = await visited(visit, deps);
  await useLoginCode(connection, visit.code, deps);
  const name = await save(connection, { values, project }, deps);
  await changeConnection({ id: visit.connectionId, project }, deps, async (before) => ({
    ...before,
    metadata: {
      ...before.metadata,
      annotations: { ...before.metadata.annotations, [authenticatedAtAnnotation]: new Date().toISOString() },
    },
    spec: name === undefined ? before.spec : { ...before.spec, credential: { name } },
  }));
};

/**
 * The use cases of the hosted login page: it exchanges its code, reads the fields of its form, and submits the values.
 */

import type { KeyObject } from "node:crypto";
import { newId } from "../../../core/objects/new-id.ts";
import type { Project, Projects } from "../../../core/projects/projects.ts";
import { AppError } from "../../../platform/base/errors.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { SecretsKeys } from "../../../platform/secrets/sealing.ts";
import { isFieldName } from "../credentials/credential.ts";
import { fetchCredentials, storeCredential } from "../credentials/credentials.ts";
import { changeCredential } from "../credentials/update-credential.ts";
import { credentialOfName, isExternal } from "../items/rules/item-source.ts";
import type { LoginFlow } from "../own-logins/flow.ts";
import type { OwnLogins } from "../own-logins/own-logins.ts";
import { type AuthConnection, authenticatedAtAnnotation } from "./auth-connection.ts";
import { changeConnection, fetchConnection } from "./connections.ts";
import { badTicket, endVisit, openVisit, requireTicket, requireVisit } from "./login-code.ts";

type Deps = { kube: Kube; locks: Locks; projects: Projects; secretsKeys: SecretsKeys; signingKey: KeyObject };

/** The connection of a login, from the page's URL. */
export type LoginPlace = { projectId: string; connectionId: string };

/** A visit of the page. `ticket`: its secret. */
export type LoginVisit = LoginPlace & { ticket: string };

type TicketDeps = Pick<Deps, "signingKey">;

/** Throws `forbidden` for a code that can't be one of this place. Does no I/O. */
export const requireCode = ({ code, ...place }: LoginPlace & { code: string }, deps: TicketDeps): number =>
  requireTicket(code, { ...place, stage: "code" }, deps);

/** Throws `forbidden` for a ticket that can't be one of this place. Does no I/O. */
export const requireVisitTicket = ({ ticket, ...place }: LoginVisit, deps: TicketDeps): number =>
  requireTicket(ticket, { ...place, stage: "visit" }, deps);

const placeOf = async (
  { projectId, connectionId }: LoginPlace,
  deps: Pick<Deps, "kube" | "projects">,
): Promise<{ project: Project; connection: AuthConnection }> => {
  const project = deps.projects.find(projectId);
  if (project?.status !== "active" || project.id !== projectId) throw badTicket();
  try {
    return { project, connection: await fetchConnection(connectionId, project, deps) };
  } catch (error) {
    throw error instanceof AppError && error.code === "not_found" ? badTicket() : error;
  }
};

/**
 * Exchanges the code of a login link for the ticket of a visit; after that the code is not valid. Throws `forbidden`.
 */
export const beginVisit = async (
  { code, ...place }: LoginPlace & { code: string },
  deps: Pick<Deps, "kube" | "projects" | "signingKey">,
): Promise<string> => {
  const untilMs = requireCode({ ...place, code }, deps);
  const { connection } = await placeOf(place, deps);
  return openVisit(connection, { code, use: { ...place, stage: "visit" }, untilMs }, deps);
};

/** What the page shows: the project that asks, the domain and the fields. */
export type LoginForm = { projectName: string; domain: string; fields: string[] };

const usualFields = ["username", "password"];

/** The fields of the connection's credential, or the usual two when it has none. Throws `forbidden`. */
export const readLoginForm = async ({ ticket, ...place }: LoginVisit, deps: Deps): Promise<LoginForm> => {
  requireVisitTicket({ ...place, ticket }, deps);
  const { project, connection } = await placeOf(place, deps);
  await requireVisit(connection, ticket, deps);
  const { domain, credential } = connection.spec;
  const known = credential?.name && credentialOfName(await fetchCredentials(project, deps), credential.name);
  const fields = known ? known.spec.valueKeys.filter(isFieldName) : [];
  return { projectName: project.name, domain, fields: fields.length > 0 ? fields : usualFields };
};

/** A login that the service does, as the page shows it. */
export type OwnLogin = { connection: AuthConnection; project: Project; flow: LoginFlow };

/**
 * The login that the service does for the connection; undefined when it does none, and the page takes the login. Throws
 * `forbidden`.
 */
export const readOwnLogin = async (
  { ticket, ...place }: LoginVisit,
  deps: Pick<Deps, "kube" | "projects" | "signingKey"> & { ownLogins: Pick<OwnLogins, "flows"> },
): Promise<OwnLogin | undefined> => {
  requireVisitTicket({ ...place, ticket }, deps);
  const { project, connection } = await placeOf(place, deps);
  await requireVisit(connection, ticket, deps);
  const flow =
    connection.spec.loginUrl === undefined ? undefined : await deps.ownLogins.flows.read(connection.metadata.uid);
  return flow && { connection, project, flow };
};

/** A unique name for a connection's credential, which users can recognise. */
const newCredentialName = ({ spec }: AuthConnection): string =>
  `${spec.domain}-${spec.profileName}`
    .replace(/[^a-zA-Z0-9._-]/g, "-")
    .slice(0, 230)
    .concat("-", newId());

/** `ssoProvider`: the provider of single sign-on that the values are for. */
type CollectedLogin = { values: Record<string, string>; project: Project; ssoProvider?: string | undefined };

/**
 * Saves values as the connection's credential. Returns the name of a new credential, undefined when it created none.
 */
const save = async (
  connection: AuthConnection,
  { values, project, ssoProvider: sso_provider }: CollectedLogin,
  deps: Pick<Deps, "kube" | "locks" | "secretsKeys">,
): Promise<string | undefined> => {
  const { credential: linked, saveCredentials, domain } = connection.spec;
  if (!saveCredentials || isExternal(connection)) return undefined;
  const known = linked?.name && credentialOfName(await fetchCredentials(project, deps), linked.name);
  if (known) {
    await changeCredential(known, { request: { values, ...(sso_provider && { sso_provider }) }, project }, deps);
    return undefined;
  }
  const request = { name: newCredentialName(connection), domain, values, ...(sso_provider && { sso_provider }) };
  const { credential } = await storeCredential(request, project, deps);
  return credential.spec.name;
};

/**
 * Saves the values of a login that the service has done, as the connection's credential. Throws `bad_request` for values
 * that can't be stored.
 */
export const saveLogin = async (
  { metadata }: AuthConnection,
  login: CollectedLogin,
  deps: Pick<Deps, "kube" | "locks" | "secretsKeys">,
): Promise<void> =>
  // Another replica may have been given other values of the same login.
  deps.locks.hold(["save-login", metadata.uid], async () => {
    const { project } = login;
    const connection = await fetchConnection(metadata.name, project, deps);
    const name = await save(connection, login, deps);
    if (name !== undefined)
      await changeConnection({ id: metadata.name, project }, deps, async (before) => ({
        ...before,
        spec: { ...before.spec, credential: { name } },
      }));
  });

/**
 * Takes the values of a login: ends the visit, saves the values as the connection's credential (unless the connection
 * disables that or an external provider keeps its credential) and makes the connection `AUTHENTICATED`. One-time codes
 * must not be among the values. Throws `forbidden` for an invalid visit, `bad_request` for values that can't be stored.
 */
export const collectLogin = async (
  { ticket, ...place }: LoginVisit,
  values: Record<string, string>,
  deps: Deps,
): Promise<void> => {
  requireVisitTicket({ ...place, ticket }, deps);
  const { project, connection } = await placeOf(place, deps);
  await endVisit(connection, ticket, deps);
  const name = await save(connection, { values, project }, deps);
  await changeConnection({ id: place.connectionId, project }, deps, async (before) => ({
    ...before,
    metadata: {
      ...before.metadata,
      annotations: { ...before.metadata.annotations, [authenticatedAtAnnotation]: new Date().toISOString() },
    },
    spec: name === undefined ? before.spec : { ...before.spec, credential: { name } },
  }));
};

import type { KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Principal } from "../../../core/api-keys/api-keys.ts";
import { retryConflicts } from "../../../core/objects/change-object.ts";
import { fetchObject, fetchObjects } from "../../../core/objects/fetch-object.ts";
import { newId } from "../../../core/objects/new-id.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { mayUse } from "../../../core/sessions/authorize-session.ts";
import { type FindSessionDeps, findSession } from "../../../core/sessions/find-session.ts";
import { type SessionAnswerDeps, sessionAnswer } from "../../../core/sessions/session-answer.ts";
import { wideningProblems } from "../../../platform/addresses/allowed-origins.ts";
import { AppError, invalidInput, notSupportedHere } from "../../../platform/base/errors.ts";
import { createdAt, updatedAt, updatedAtAnnotation, wireId } from "../../../platform/kinds/identity.ts";
import { secretFinalizer } from "../../../platform/kinds/kind.ts";
import { toWire } from "../../../platform/kinds/wire.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import { createProfile } from "../../profiles/profiles.ts";
import { storesLogin } from "../credentials/credential.ts";
import { fetchCredentials } from "../credentials/credentials.ts";
import { type CredentialSource, credentialOfName, credentialSource, originLimits } from "../items/rules/item-source.ts";
import { isOver, type LoginFlow } from "../own-logins/flow.ts";
import { flowAnswer } from "../own-logins/flow-answer.ts";
import type { OwnLogins } from "../own-logins/own-logins.ts";
import {
  type AuthConnection,
  AuthConnectionSpec,
  authConnectionKind,
  type ConnectionAnswer,
  type CreateConnection,
  connectionStatus,
  type LoginAnswer,
  type LoginRequest,
  postLoginUrlOf,
  type ReauthReason,
  type UpdateConnection,
} from "./auth-connection.ts";
import { newLoginCode } from "./login-code.ts";
import {
  type ConnectionResult,
  loginRefusal,
  newConnectionSpec,
  patchConnectionSpec,
} from "./rules/connection-spec.ts";
import { supportedSpec } from "./rules/connection-support.ts";

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

/** A connection as HTTP answers show it; pure. */
export const connectionAnswer = (connection: AuthConnection): ConnectionAnswer => {
  const { healthChecks, loginUrl } = connection.spec;
  const postLoginUrl = postLoginUrlOf(connection);
  const isUnchecked = healthChecks && loginUrl === undefined && postLoginUrl === undefined;
  return {
    ...toWire(AuthConnectionSpec, supportedSpec(connection.spec)),
    id: wireId(connection),
    status: connectionStatus(connection),
    ...(postLoginUrl !== undefined && { post_login_url: postLoginUrl }),
    ...(isUnchecked && { health_check_unavailable_reason: "no_auth_check_url" }),
    created_at: createdAt(connection),
    updated_at: updatedAt(connection),
  };
};

/** How a login without a person stands, from what is stored and how the last one ended. */
const reauthOf = (source: CredentialSource, { spec }: AuthConnection, flow: LoginFlow | undefined): ReauthReason => {
  if (source.is === "external") return "external_credential";
  if (source.is !== "credential" || !storesLogin(source.credential)) return "no_credential";
  if (spec.loginUrl === undefined) return "no_viable_plans";
  if (flow?.errorCode === "external_action_required") return "requires_external_action";
  return flow?.errorCode === "input_required" ? "requires_customer_input" : "has_credential";
};

type DescribeDeps = SessionAnswerDeps & FindSessionDeps & { kube: Kube; ownLogins: Pick<OwnLogins, "flows"> };

/** Who looks at a login. `principal`: undefined for a person at the hosted page. */
export type Onlooker = { project: Project; principal: Principal | undefined; baseUrl: string };

/** The live view of a running login; undefined when its browser is not up, or a key may not use it. */
export const liveViewOf = async (
  flow: LoginFlow,
  { project, principal, baseUrl }: Onlooker,
  deps: SessionAnswerDeps & FindSessionDeps,
): Promise<string | undefined> => {
  if (!flow.session || isOver(flow)) return undefined;
  try {
    const { lease } = await findSession(flow.session, { project }, deps);
    const isFree = principal === undefined || mayUse(lease, principal);
    return (await sessionAnswer(lease, isFree ? baseUrl : undefined, deps)).browser_live_view_url;
  } catch {
    return undefined;
  }
};

/** The same with its last login. */
export const describeConnection = async (
  connection: AuthConnection,
  place: Onlooker,
  deps: DescribeDeps,
): Promise<ConnectionAnswer> => {
  const { uid } = connection.metadata;
  const { flows } = deps.ownLogins;
  const [flow, { checkedMs }, credentials] = await Promise.all([
    flows.read(uid),
    flows.readCheck(uid),
    fetchCredentials(place.project, deps),
  ]);
  const reason = reauthOf(credentialSource(connection, credentials), connection, flow);
  const checkedAt = checkedMs === undefined ? undefined : new Date(checkedMs).toISOString();
  return {
    ...(flow && flowAnswer(flow, await liveViewOf(flow, place, deps))),
    ...connectionAnswer(connection),
    ...(checkedAt && { last_auth_check_at: checkedAt, last_auth_at: checkedAt }),
    can_reauth:
      reason === "has_credential" || (reason === "external_credential" && connection.spec.loginUrl !== undefined),
    can_reauth_reason: reason,
  };
};

/** The error for a refused request: `bad_request`, or `not_supported_here` (CONNECTION-21). */
const refusedRequest = ({ kind, problems }: Extract<ConnectionResult, { ok: false }>): AppError =>
  kind === "invalid" ? invalidInput(problems) : notSupportedHere(problems);

/**
 * Throws `bad_request` when a spec names a credential that does not exist, or has an origin that the credential does
 * not allow (CONNECTION-22). What the spec `before` had already is no fault of this request.
 */
const requireCredential = async (
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

/** Creates the profile, without contents, unless the project has one of this name. */
const ensureProfile = async (name: string, project: Project, deps: { kube: Kube; locks: Locks }): Promise<void> => {
  try {
    await createProfile({ name }, project, deps);
  } catch (error) {
    if (!(error instanceof AppError && error.code === "name_taken")) throw error;
  }
};

/**
 * The one place where the profile of a new connection is looked at, before `work` creates the connection: a profile has
 * one connection for a domain (CONNECTION-9), also when several callers ask at once, and it is created if there is none
 * (CONNECTION-24). Throws `conflict`.
 */
export const withProfile = <T>(
  { spec: { profileName, domain }, project }: { spec: AuthConnectionSpec; project: Project },
  deps: { kube: Kube; locks: Locks },
  work: () => Promise<T>,
): Promise<T> =>
  deps.locks.hold(["connection", project.namespace, profileName, domain], async () => {
    const rival = (await fetchConnections(project, deps)).find(
      ({ spec }) => spec.profileName === profileName && spec.domain.toLowerCase() === domain,
    );
    if (rival)
      throw new AppError("conflict", `profile ${profileName} has the connection ${rival.metadata.name} for ${domain}`);
    await ensureProfile(profileName, project, deps);
    return work();
  });

/**
 * Creates a connection. Throws `bad_request`, `not_supported_here`, and `conflict` when the profile already has a
 * connection for the domain.
 */
export const createConnection = async (
  request: CreateConnection,
  project: Project,
  deps: { kube: Kube; locks: Locks },
): Promise<ConnectionAnswer> => {
  const made = newConnectionSpec(request);
  if (!made.ok) throw refusedRequest(made);
  const { spec } = made;
  await requireCredential({ spec, project }, deps);
  return withProfile({ spec, project }, deps, async () => {
    const metadata = { name: newId(), namespace: project.namespace, finalizers: [secretFinalizer] };
    return connectionAnswer(await deps.kube.create(authConnectionKind, { metadata, spec }));
  });
};

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
): Promise<ConnectionAnswer> => {
  const written = await changeConnection({ id, project }, deps, async (before) => {
    const patched = patchConnectionSpec(before.spec, request);
    if (!patched.ok) throw refusedRequest(patched);
    await requireCredential({ spec: patched.spec, before: before.spec, project }, deps);
    return { ...before, spec: patched.spec };
  });
  return connectionAnswer(written);
};

/**
 * Begins a login: by the service if the connection says where, and by a person. The page's URL names the project too, since ids that users give in YAML are unique only
 * within a project. The code follows the `#`: browsers send that part to no server, so it gets into no access log,
 * `Referer` or proxy. The page's script exchanges it. Throws `not_found`, `bad_request` and `not_supported_here`.
 */
export const startLogin = async (
  { id, request, project, baseUrl }: { id: string; request: LoginRequest; project: Project; baseUrl: string },
  deps: { kube: Kube; ownLogins: Pick<OwnLogins, "start">; signingKey: KeyObject },
): Promise<LoginAnswer> => {
  const refusal = loginRefusal(request);
  if (refusal) throw refusedRequest(refusal);
  const connection = await fetchConnection(id, project, deps);
  const use = { stage: "code", projectId: project.id, connectionId: wireId(connection) } as const;
  const { code, expiresAtMs } = await newLoginCode({ connection, use }, deps);
  // With a page to begin at, the service does it: the hosted page is for what only a person can do.
  const flow = connection.spec.loginUrl && (await deps.ownLogins.start({ connection, project, type: "LOGIN" }));
  return {
    id: wireId(connection),
    hosted_url: `${baseUrl}/login/${project.id}/${wireId(connection)}#${code}`,
    handoff_code: code,
    flow_type: flow ? flow.type : "LOGIN",
    flow_expires_at: new Date(flow ? flow.expiresMs : expiresAtMs).toISOString(),
  };
};

/** Deletes a connection; its credential stays, and the operator deletes its login code. Throws `not_found`. */
export const deleteConnection = async (id: string, project: Project, deps: { kube: Kube }): Promise<void> => {
  const { metadata } = await fetchConnection(id, project, deps);
  await deps.kube.delete(authConnectionKind, metadata, { uid: metadata.uid });
};

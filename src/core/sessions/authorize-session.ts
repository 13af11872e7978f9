import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { AppError } from "../../platform/base/errors.ts";
import type { TraceContext } from "../../platform/tracing/trace-context.ts";
import type { Principal } from "../api-keys/api-keys.ts";
import type { AgentPlace } from "../leases/agent/agent-call.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type AnyLease, acquiredIn, type LeaseRecord, requestOf } from "../leases/records.ts";
import type { Browser } from "../model/browsers/browser.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { refuseWhileRecovering } from "../pools/use-cases/refuse-while-recovering.ts";
import type { Project } from "../projects/projects.ts";
import { purposeHeader, readOnlyView, sessionHeader, viewHeader } from "../protocol/agent-api.ts";
import { type AgentKeys, isUpgradeBy, type UpgradeAnswer } from "../protocol/agent-key.ts";
import type { UpgradePath } from "../protocol/agent-proof.ts";
import type { AgentTokens } from "../protocol/agent-token.ts";
import { type SessionClaims, verifyLiveViewToken, verifySessionToken } from "../protocol/session-token.ts";
import { type FindSessionDeps, type FoundSession, findSession } from "./find-session.ts";

// Who may use a session's browser: see its URLs, change it, follow its logs and telemetry, record it. The keys of one
// project share its sessions, but for those with vaults: what is filled there can be read by whoever drives or watches
// the browser, so they need `vaults:fill`, as their creation does. Ending a session shows nothing of it, and needs
// `browsers:use` alone.

const hasVaults = (lease: Pick<AnyLease, "request">): boolean => {
  const { with_vaults = false, vaults = [] } = requestOf(lease);
  return with_vaults || vaults.length > 0;
};

/** AUTH-20. */
export const mayUse = (lease: Pick<AnyLease, "request">, { permissions }: Pick<Principal, "permissions">): boolean =>
  permissions.has("browsers:use") && (permissions.has("vaults:fill") || !hasVaults(lease));

export type UserOf = { project: Project; principal: Pick<Principal, "permissions">; includeEnded?: boolean };

export type FindUsableDeps = FindSessionDeps;

/** A session that this key may use. Throws as `findSession`, and `forbidden`. */
export const findUsable = async (
  idOrName: string,
  { project, principal, includeEnded = false }: UserOf,
  deps: FindUsableDeps,
): Promise<FoundSession> => {
  const found = await findSession(idOrName, { project, includeEnded }, deps);
  if (!mayUse(found.lease, principal))
    throw new AppError(
      "forbidden",
      `browser ${found.lease.session} has vaults, and this API key lacks the permission vaults:fill`,
    );
  return found;
};

/** What finding the session of a token, and its agent, needs. */
export type AuthorizeSessionDeps = {
  agentKeys: AgentKeys;
  agentTokens: AgentTokens;
  browsers: WatchedObjects<Browser>;
  pools: WatchedObjects<BrowserPool>;
  signingKey: KeyObject;
  store: LeaseStore;
  verifyKey: KeyObject;
};

/**
 * The agent of a session, the path there, the headers that it requires on the upgrade, the session, and its project.
 * `isGenuine`: whether the answer to that upgrade came from the agent; until then nothing of the client may be sent.
 */
export type SessionTarget = {
  agent: AgentPlace;
  path: UpgradePath;
  headers: Record<string, string>;
  sessionId: string;
  poolUid: string;
  projectId: string;
  /** The trace in which the session was acquired, where that is recorded. */
  trace: TraceContext | undefined;
  isGenuine(answer: UpgradeAnswer): boolean;
};

/** `trace`: as in `SessionTarget`. */
export type SessionByToken = {
  lease: LeaseRecord;
  poolUid: string;
  projectId: string;
  trace: TraceContext | undefined;
};

/**
 * Sessions of each store that were found to be over, for a second: a token outlives its session, and whoever sends it
 * again and again needs no key. No session begins anew.
 */
const overOf = new WeakMap<object, LRUCache<string, true>>();

const knownOver = (store: object): LRUCache<string, true> => {
  const known = overOf.get(store) ?? new LRUCache<string, true>({ max: 10_000, ttl: 1000 });
  overOf.set(store, known);
  return known;
};

const sessionOver = (sessionId: string): AppError => new AppError("not_found", `session ${sessionId} has ended`);

/** The session of a token's claims. Throws as `authorizeSession`. */
const sessionOf = async (
  sessionId: string,
  claims: SessionClaims | undefined,
  { store, pools, browsers }: Pick<AuthorizeSessionDeps, "store" | "pools" | "browsers">,
): Promise<SessionByToken> => {
  if (claims?.sessionId !== sessionId)
    throw new AppError("unauthorized", "the jwt of this URL is missing or not valid");
  const { poolUid, isOver = false } = claims;
  const over = knownOver(store);
  const key = `${poolUid}/${sessionId}`;
  if (isOver || over.has(key)) throw sessionOver(sessionId);
  const lease = await store.lease(poolUid, sessionId);
  if (!lease) {
    const owners = [...pools.list(), ...browsers.list()].filter(({ metadata }) => metadata.uid === poolUid);
    await refuseWhileRecovering(sessionId, owners, { store });
    over.set(key, true);
    throw sessionOver(sessionId);
  }
  const request = requestOf(lease);
  return { lease, poolUid, projectId: request.project, trace: acquiredIn(request) };
};

/** The session that a token is for. Throws as `authorizeSession`. */
export const sessionByToken = async (
  { sessionId, token }: { sessionId: string; token: string },
  deps: Pick<AuthorizeSessionDeps, "store" | "pools" | "browsers" | "verifyKey">,
): Promise<SessionByToken> => sessionOf(sessionId, await verifySessionToken(deps.verifyKey, token), deps);

/**
 * What a caller asks for. `readOnly`: it wants no more than to watch, whatever its token allows. `glance`: so little
 * that it is no use of the session.
 */
export type AskedSession = {
  sessionId: string;
  token: string;
  path: UpgradePath;
  readOnly: boolean;
  glance?: boolean;
};

const claimsOf = async (
  { token, path, readOnly, glance = false }: AskedSession,
  { verifyKey, signingKey }: AuthorizeSessionDeps,
) => {
  if (path !== "/view") return { claims: await verifySessionToken(verifyKey, token), headers: {} };
  const claims = await verifyLiveViewToken(signingKey, token);
  const isWatching = readOnly || glance || claims?.readOnly;
  return {
    claims,
    headers: {
      ...(isWatching && { [viewHeader]: readOnlyView }),
      ...(glance && { [purposeHeader]: "glance" }),
    },
  };
};

/**
 * Checks the token of a session, or of its live view, and returns the address of its browser. Throws `unauthorized` for
 * a token of another session or for something else, `not_found` when the session has ended, and `unavailable` while
 * that is unknown.
 */
export const authorizeSession = async (asked: AskedSession, deps: AuthorizeSessionDeps): Promise<SessionTarget> => {
  const { agentTokens, agentKeys } = deps;
  const { sessionId, path } = asked;
  const { claims, headers } = await claimsOf(asked, deps);
  const { lease, poolUid, projectId, trace } = await sessionOf(sessionId, claims, deps);
  const authorization = `Bearer ${agentTokens.tokenFor(lease.browser)}`;
  const challenge = agentKeys.challenge(lease.pod);
  return {
    agent: { browser: lease.browser, pod: lease.pod, address: lease.address },
    path,
    headers: { ...challenge.headers, ...headers, authorization, [sessionHeader]: sessionId },
    sessionId,
    poolUid,
    projectId,
    trace,
    isGenuine: (answer) => isUpgradeBy(challenge, answer, path),
  };
};

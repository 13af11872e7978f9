/** Has the agent of a held browser carry out what was planned (core/protocol/browser-change.ts). */
import { AppError, invalidInput, unavailable } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import type { Selector } from "../../platform/kinds/selector.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { withoutUndefined } from "../../platform/rules/given-fields.ts";
import { wireProblems } from "../../platform/rules/problem.ts";
import type { Config } from "../config/config.ts";
import { type Called, isHeldAtAgent } from "../leases/agent/agent-call.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type AnyLease, requestOf, type SessionRequest } from "../leases/records.ts";
import { BrowserSpec } from "../model/browsers/browser.ts";
import type { RunningChange } from "../model/browsers/browser-requests.ts";
import { settingProblems } from "../model/pools/pool-problems.ts";
import { type AllowlistRecord, changedAllowlist } from "../model/sessions/allowlist.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";
import { changedLocation, startLocation } from "../model/settings/location.ts";
import { referencesOf, resolveReferences } from "../model/settings/references.ts";
import { fetchReferenced, requireReferences } from "../objects/references.ts";
import { requireFeatures } from "../objects/require-features.ts";
import type { Project } from "../projects/projects.ts";
import type { BrowserChange } from "../protocol/browser-change.ts";
import type { MissingArchives, ParentProxy } from "../protocol/browser-setup.ts";
import type { Referents, StoredArchive } from "../setups/referents.ts";
import type { FoundSession } from "./find-session.ts";
import { configOf } from "./session-config.ts";

// What must be known before a running browser is changed: all checks, and what its agent needs. Nothing has changed
// yet.

export type PlannedChange = {
  wanted: Pick<
    BrowserChange,
    "viewport" | "proxy" | "profile" | "location" | "allowed_hosts" | "start_url" | "timeout_seconds"
  >;
  /** The archive of the profile, if anything is saved in it. */
  archive: StoredArchive | undefined;
  /** For the session's record. */
  changed: NonNullable<SessionRequest["changed"]>;
};

const nameOf = ({ id, name }: Partial<Selector>): string => name ?? id ?? "";

/** Throws `conflict` for a session that has a profile already. */
export const refuseSecondProfile = async (
  { lease }: FoundSession,
  { profile }: Pick<RunningChange, "profile">,
  deps: { store: LeaseStore },
): Promise<void> => {
  if (!profile) return;
  const request = requestOf(lease);
  const present = request.changed?.profile ?? (await configOf(lease, request, deps))?.profile;
  if (present)
    throw new AppError(
      "conflict",
      `profile: the session has the profile ${nameOf(present)} already; start another browser with ${nameOf(profile)}`,
    );
};

/** Throws `conflict`, `not_found` for what is named and not there, and `not_supported_here`. */
export const planChange = async (
  change: RunningChange,
  found: FoundSession,
  project: Project,
  deps: { config: Config; kube: Kube; referents: Referents; store: LeaseStore },
): Promise<PlannedChange> => {
  const { viewport, profile, proxyId, location, startUrl, timeoutSeconds } = change;
  requireFeatures({ ...(proxyId && { proxyId }), ...(location && { location }) }, deps);
  const references = referencesOf({ ...(profile && { profile }), ...(proxyId && { proxyId }) });
  await requireReferences(references, project, deps);
  await refuseSecondProfile(found, change, deps);
  const objects = await fetchReferenced(references, project, deps);
  const ids = resolveReferences({ ...(profile && { profile }), ...(proxyId && { proxyId }) }, objects);
  const open = async (): Promise<ParentProxy | null> => {
    const proxy = objects.Proxy?.find(({ metadata }) => metadata.name === ids.proxyId);
    if (!proxy) throw new AppError("not_found", `proxy_id: no proxy with id ${proxyId} in this project`);
    return deps.referents.openProxy(proxy, found.lease.browser);
  };
  const named = objects.Profile?.find(({ metadata }) => metadata.name === ids.profileId);
  const archive = profile && named && (await deps.referents.profile(named));
  return {
    archive,
    wanted: {
      ...withoutUndefined({ viewport, start_url: startUrl, timeout_seconds: timeoutSeconds }),
      ...(proxyId !== undefined && { proxy: proxyId === "" ? null : await open() }),
      ...(profile && { profile: archive ? { archive: { sha256: archive.sha256, bytes: archive.bytes } } : {} }),
    },
    changed: {
      ...(viewport && { viewport }),
      // By its id: its name may change.
      ...(profile && ids.profileId && { profile: { id: ids.profileId } }),
      ...(proxyId !== undefined && { proxy_id: proxyId }),
    },
  };
};

/** What callers are told of a list of hosts that can't be changed. */
const allowlistRefusals = {
  stale: ["stale_network", "the session has another list by now; read its network.allowlist_state again"],
  none: ["conflict", "the browser was made without such a list; start another browser with it"],
  removed: ["conflict", "the list was taken away, which is for good; start another browser with it"],
} as const;

/** Throws `conflict`, `stale_network`, and `bad_request` for hosts that are none. */
const allowlistAfter = (
  present: SessionRequest["changed"],
  { network: given = {} }: Partial<SessionConfig>,
  asked: NonNullable<RunningChange["network"]>,
): AllowlistRecord | undefined => {
  const { allowed_hosts: hosts } = asked;
  if (hosts === undefined) return undefined;
  const problems = settingProblems({ network: { allowedHosts: hosts ?? [] } });
  if (problems.length > 0) throw invalidInput(wireProblems(BrowserSpec, problems));
  const changed = changedAllowlist(
    { given: given.allowed_hosts, kept: present?.allowlist },
    { ...asked, allowed_hosts: hosts },
  );
  if (!changed.ok) {
    const [code, why] = allowlistRefusals[changed.why];
    throw new AppError(code, `network.allowed_hosts: ${why}`);
  }
  return changed.record;
};

/**
 * The plan with what depends on the session as it is now: of its location what is left out stays, and its list of
 * hosts has a revision. Throws `conflict`, `stale_network` and `bad_request`.
 */
export const planOnPresent = async (
  planned: PlannedChange,
  { location, network }: RunningChange,
  { lease }: FoundSession,
  deps: { store: LeaseStore },
): Promise<PlannedChange> => {
  if (!location && !network) return planned;
  const request = requestOf(lease);
  const { changed } = request;
  const config: Partial<SessionConfig> = (await configOf(lease, request, deps)) ?? {};
  const place = location && changedLocation(changed?.location ?? config.location, location);
  const allowlist = network && allowlistAfter(changed, config, network);
  return {
    ...planned,
    wanted: {
      ...planned.wanted,
      ...(place && { location: startLocation(place) }),
      ...(allowlist && { allowed_hosts: allowlist.hosts }),
    },
    changed: { ...planned.changed, ...withoutUndefined({ location: place, allowlist }) },
  };
};

type Deps = { agents: AgentClient; blobs: BlobStore; log: Logger; setupClient: SetupClient; store: LeaseStore };

/** Longest delivery of an archive, ms. */
const archiveMs = 5 * 60_000;

/** What callers are told of a change that the browser did not take. Then all is as it was. */
const conflicts: Record<string, string> = {
  screen_too_small:
    "viewport: the screen of a browser that is not headless can't become larger than at its start; start the browser with the largest viewport that it needs",
  viewport_refused: "viewport: the browser's windows don't take this size; give another one",
  profile_loaded: "profile: the browser has a profile already; start another browser with this one",
  profile_refused: "profile: what is saved in it can't be loaded; see docs/profiles.md for what a profile may have",
};

/** The session ended while it was to be changed. */
export const sessionGone = (id: string): AppError => new AppError("not_found", `browser ${id} has ended`);

/** The digests of the archives that the agent misses; throws for any other answer. */
const missingOf = async (
  answer: Called<MissingArchives>,
  { lease, poolUid }: FoundSession,
  { store, log }: Deps,
): Promise<string[]> => {
  if (answer.kind === "ok") return answer.missing;
  if (!(await store.lease(poolUid, lease.session))) throw sessionGone(lease.session);
  const conflict = answer.kind === "refused" ? conflicts[answer.code] : undefined;
  if (conflict !== undefined) throw new AppError("conflict", conflict);
  log.warn({ session_id: lease.session, answer }, "the browser did not take a change of its holder");
  throw unavailable("the browser");
};

const nameIn = ({ session, epoch, seq }: AnyLease) => ({ session_id: session, epoch, seq });

/** Sends the agent all that it needs for the change, which it does not carry out yet. */
export const prepareChange = async (
  { wanted, archive }: PlannedChange,
  found: FoundSession,
  deps: Deps,
): Promise<void> => {
  if (!archive) return;
  const { lease } = found;
  const asked = await deps.setupClient.sendChange(lease, { ...nameIn(lease), ...wanted, apply: false });
  const missing = await missingOf(asked, found, deps);
  if (missing.length === 0) return;
  const blob = await deps.blobs.get(archive.key, { signal: AbortSignal.timeout(archiveMs) });
  if (!blob) throw unavailable("the contents of the profile, which may have been replaced a moment ago,");
  const sent = await deps.setupClient.sendArchive(lease, archive, blob.body);
  // Another request of the same session has prepared something else meanwhile, or the session has ended.
  if (sent.kind !== "ok") await missingOf({ kind: "unreachable", reason: "archive not taken" }, found, deps);
};

/** Has the agent carry the change out. `request`: the lease's from then on. Resolves when all of it holds. */
export const applyChange = async (
  { wanted }: PlannedChange,
  request: string,
  found: FoundSession,
  deps: Deps,
): Promise<void> => {
  const { lease } = found;
  const asked = await deps.setupClient.sendChange(lease, { ...nameIn(lease), ...wanted, apply: true, request });
  // Another request of the same session has prepared something else meanwhile.
  if ((await missingOf(asked, found, deps)).length > 0) throw unavailable("the browser");
};

/** Has the agent capture what this request says. */
export const applyCapture = async (
  { telemetry }: SessionRequest,
  { lease, poolUid }: FoundSession,
  { agents, store, log }: Deps,
): Promise<void> => {
  const answer = await agents.capture(lease, telemetry ?? null);
  if (answer.kind === "ok" && isHeldAtAgent(lease, answer.state)) return;
  if (!(await store.lease(poolUid, lease.session))) throw sessionGone(lease.session);
  log.warn({ session_id: lease.session, answer }, "the browser did not take telemetry settings");
  throw unavailable("the browser");
};

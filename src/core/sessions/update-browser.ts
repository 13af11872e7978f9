import { AppError, invalidInput } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { fromWire, toWire } from "../../platform/kinds/wire.ts";
import type { Locks } from "../../platform/redis/locks.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import { wireProblems } from "../../platform/rules/problem.ts";
import type { Config } from "../config/config.ts";
import type { AgentClient } from "../leases/agent/agent-client.ts";
import type { SetupClient } from "../leases/agent/setup-client.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type LeaseRecord, requestOf, type SessionRequest } from "../leases/records.ts";
import { type RunningChange, updateOf } from "../model/browsers/browser-requests.ts";
import type { UpdateBrowser } from "../model/browsers/browser-wire.ts";
import { BrowserPoolSpec } from "../model/pools/browser-pool.ts";
import type { SessionConfig } from "../model/settings/browser-config.ts";
import { referencesOf } from "../model/settings/references.ts";
import { mergeTelemetry, Telemetry } from "../model/settings/telemetry.ts";
import { requireReferences } from "../objects/references.ts";
import type { Project } from "../projects/projects.ts";
import { type NameOwner, reserveSessionName, type SessionNames } from "../reservations/session-names.ts";
import type { Referents } from "../setups/referents.ts";
import { findUsable, type UserOf } from "./authorize-session.ts";
import type { FindSessionDeps, FoundSession } from "./find-session.ts";
import {
  applyCapture,
  applyChange,
  type PlannedChange,
  planChange,
  planOnPresent,
  prepareChange,
  refuseSecondProfile,
  sessionGone,
} from "./send-change.ts";
import { telemetryOf } from "./session-answer.ts";
import { configOf } from "./session-config.ts";
import type { SessionCollector } from "./start-session.ts";

/** How often a write is tried while others change the same session. */
const writeTries = 8;

/** The new value: undefined keeps `before`; null and empty remove it. */
const changed = <T extends string | object>(before: T | undefined, asked: T | null | undefined): T | undefined => {
  if (asked === undefined) return before;
  return asked === null || Object.keys(asked).length === 0 ? undefined : asked;
};

/** What a lease keeps: all that counts for it now, so that nothing of what its browser was made with comes back. */
const telemetryAfter = (
  request: SessionRequest,
  asked: UpdateBrowser["telemetry"],
  config: SessionConfig | undefined,
): SessionRequest["telemetry"] => {
  if (!asked) return request.telemetry;
  const merged = mergeTelemetry(telemetryOf(config, request), fromWire(Telemetry, asked));
  if (!merged.ok) throw invalidInput(wireProblems(BrowserPoolSpec, merged.problems));
  if (merged.telemetry) return toWire(Telemetry, merged.telemetry);
  return asked.enabled === false ? { enabled: false } : request.telemetry;
};

/** `config`: what the browser was made with. `running`: what changes in the browser itself, if anything does. */
type Update = { request: UpdateBrowser; config?: SessionConfig | undefined; running?: PlannedChange | undefined };

const after = (present: SessionRequest, { request, config, running }: Update): SessionRequest => {
  const { name: oldName, tags: oldTags, ...rest } = present;
  const name = changed(oldName, request.name);
  const tags = changed(oldTags, request.tags);
  const telemetry = telemetryAfter(present, request.telemetry, config);
  return {
    ...rest,
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags }),
    ...(telemetry !== undefined && { telemetry }),
    ...(request.timeout_seconds !== undefined && { timeout_seconds: request.timeout_seconds }),
    ...(running && { changed: { ...present.changed, ...running.changed } }),
  };
};

const write = async (
  { lease, poolUid }: FoundSession,
  update: Update,
  { store }: { store: LeaseStore },
): Promise<LeaseRecord> => {
  for (let tries = 0; tries < writeTries; tries++) {
    const now = tries === 0 ? lease : await store.lease(poolUid, lease.session);
    if (!now) throw sessionGone(lease.session);
    // If only the answer to an earlier try was lost, the request is another one by now, and the same change is written
    // on it.
    const next = JSON.stringify(after(requestOf(now), update));
    const outcome = await retryBriefly(() => store.rewrite(poolUid, now, next));
    if (outcome === "gone") throw sessionGone(lease.session);
    if (outcome !== "changed") return outcome;
  }
  throw new AppError("unavailable", "the session is being changed by others; repeat the request", {
    retryAfterSeconds: 1,
  });
};

/** `change`: what `running` was planned of. `onSend`: called before the browser's agent gets the change. */
type RunningUpdate = Update & { change: RunningChange | undefined; onSend: () => void };

/** What sending a change to the browser's agent needs. */
type SendDeps = { agents: AgentClient; blobs: BlobStore; log: Logger; setupClient: SetupClient; store: LeaseStore };

/** Carries out what was planned in the browser. What is captured goes back to what it was when that fails. */
const apply = async (
  found: FoundSession,
  { request, running, change, onSend, ...update }: RunningUpdate,
  deps: SendDeps,
): Promise<void> => {
  const present = requestOf(found.lease);
  const next = after(present, { request, running, ...update });
  if (running && change) await refuseSecondProfile(found, change, deps);
  try {
    if (request.telemetry) await applyCapture(next, found, deps);
    if (!running) return;
    onSend();
    await applyChange(running, JSON.stringify(next), found, deps);
  } catch (error) {
    // Also when its own answer was lost: it may be carried out.
    if (request.telemetry) await applyCapture(present, found, deps).catch(() => undefined);
    throw error;
  }
};

/**
 * Changes the browser and then the record; one request of a session at a time, so that both are of the same request.
 */
const changeRunning = async (
  { lease, poolUid }: FoundSession,
  update: RunningUpdate,
  deps: SendDeps & { locks: Locks },
): Promise<LeaseRecord> => {
  const { session } = lease;
  const work = async (): Promise<LeaseRecord> => {
    const now = await deps.store.lease(poolUid, session);
    if (!now) throw sessionGone(session);
    const found = { lease: now, poolUid };
    const { change } = update;
    const running = update.running && change && (await planOnPresent(update.running, change, found, deps));
    await apply(found, { ...update, running }, deps);
    return write(found, { ...update, running }, deps);
  };
  return deps.locks.hold(["change-browser", session], work, { renews: true });
};

/** Whether the record of the session has this name, as far as Redis says. */
const mayHaveName = async (
  { lease, poolUid }: FoundSession,
  name: string,
  { store }: { store: LeaseStore },
): Promise<boolean> => {
  try {
    const now = await store.lease(poolUid, lease.session);
    return now !== undefined && requestOf(now).name === name;
  } catch {
    return true;
  }
};

/** Throws `name_taken`. */
const reserveName = async (
  name: string,
  owner: NameOwner,
  project: Project,
  deps: { names: SessionNames },
): Promise<void> => {
  try {
    await reserveSessionName(name, { owner, projectId: project.id }, deps);
  } catch (error) {
    // Its answer may have been lost alone. Freeing takes the name from no other session. The caller waits no longer for
    // it.
    void deps.names.free(project.id, name, owner).catch(() => undefined);
    throw error;
  }
};

export type UpdateDeps = FindSessionDeps &
  SendDeps & {
    config: Config;
    locks: Locks;
    referents: Referents;
    telemetry: { collector: SessionCollector };
  };

/**
 * Changes an active session: name, tags, telemetry, and its running browser, all that was asked for or nothing. Throws
 * `bad_request`, `not_found`, `forbidden`, `not_supported_here`, `name_taken`, and `conflict` for what this browser
 * can't do while it runs. The agent's copy of the request, from which a lost lease is restored, changes with the
 * browser alone.
 */
export const updateBrowser = async (
  { idOrName, request, principal }: Pick<UserOf, "principal"> & { idOrName: string; request: UpdateBrowser },
  project: Project,
  deps: UpdateDeps,
): Promise<LeaseRecord> => {
  const found = await findUsable(idOrName, { project, principal }, deps);
  const present = requestOf(found.lease);
  const updated = updateOf(request, present);
  if (!updated.ok) throw invalidInput(updated.problems);
  const { change } = updated;
  const config = request.telemetry ? await configOf(found.lease, present, deps) : undefined;
  after(present, { request, config });
  const telemetry = request.telemetry ? fromWire(Telemetry, request.telemetry) : undefined;
  await requireReferences(referencesOf({ telemetry }), project, deps);
  const running = change && (await planChange(change, found, project, deps));
  if (running) await prepareChange(running, found, deps);

  const owner = { poolUid: found.poolUid, session: found.lease.session };
  const { name: before } = present;
  const isRenamed = typeof request.name === "string" && request.name !== "" && request.name !== before;
  if (isRenamed) await reserveName(request.name ?? "", owner, project, deps);
  const free = (name: string): Promise<void> => deps.names.free(project.id, name, owner).catch(() => undefined);
  let isSent = false;
  const onSend = (): void => {
    isSent = true;
  };
  const work =
    running || telemetry
      ? changeRunning(found, { request, config, running, change, onSend }, deps)
      : write(found, { request }, deps);
  const lease = await work.catch(async (error: unknown) => {
    // The new name stays taken until the session has ended, if the agent's copy or the record may have it.
    const isRefused = error instanceof AppError && error.code === "conflict";
    if (isRenamed && (isRefused || !isSent) && !(await mayHaveName(found, request.name ?? "", deps)))
      await free(request.name ?? "");
    throw error;
  });
  if (telemetry) await deps.telemetry.collector.ensure(owner).catch(() => undefined);
  // If this fails, the old name stays taken until this session has ended.
  if (before && request.name !== undefined && request.name !== before) await free(before);
  return lease;
};

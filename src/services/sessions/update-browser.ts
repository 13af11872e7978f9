import { wireProblems } from "../../domain/problem.ts";
import { mergeTelemetry } from "../../domain/telemetry-merge.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { type LeaseRecord, SessionRequest } from "../../leases/records.ts";
import { BrowserPoolSpec } from "../../resources/browser-pool.ts";
import type { UpdateBrowser } from "../../resources/browser-wire.ts";
import { Telemetry } from "../../resources/telemetry.ts";
import { fromWire, toWire, type Wire } from "../../resources/wire.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { type FoundSession, findSession } from "./find-session.ts";
import { sessionNameTaken } from "./session-name.ts";

/** How often a write is tried while others change the same session. */
const writeTries = 8;

const without = <T extends object, Key extends keyof T>(value: T, key: Key): Omit<T, Key> => {
  const { [key]: _, ...rest } = value;
  return rest;
};

/** `value`: undefined keeps the old value; null and empty remove it. */
const changed = <Key extends "name" | "tags">(
  request: SessionRequest,
  key: Key,
  value: SessionRequest[Key] | null,
): SessionRequest => {
  if (value === undefined) return request;
  const isSet = typeof value === "string" ? value !== "" : Object.keys(value ?? {}).length > 0;
  return (isSet ? { ...request, [key]: value } : without(request, key)) as SessionRequest;
};

const telemetryAfter = (request: SessionRequest, asked: UpdateBrowser["telemetry"]): unknown => {
  if (!asked) return request.telemetry;
  const current = request.telemetry ? fromWire(Telemetry, request.telemetry as Wire<Telemetry>) : undefined;
  const merged = mergeTelemetry(current, fromWire(Telemetry, asked));
  if (!merged.ok) throw invalidInput(wireProblems(BrowserPoolSpec, merged.problems));
  return merged.telemetry && toWire(Telemetry, merged.telemetry);
};

const after = (request: SessionRequest, update: UpdateBrowser): SessionRequest => {
  const telemetry = telemetryAfter(request, update.telemetry);
  const named = changed(changed(request, "name", update.name), "tags", update.tags);
  return { ...named, ...(telemetry !== undefined && { telemetry }) };
};

const gone = (id: string): AppError => new AppError("not_found", `browser ${id} has ended`);

const write = async (
  { lease, poolUid }: FoundSession,
  update: UpdateBrowser,
  { store }: ServiceDeps,
): Promise<LeaseRecord> => {
  for (let tries = 0; tries < writeTries; tries++) {
    const now = tries === 0 ? lease : await store.lease(poolUid, lease.session);
    if (!now) throw gone(lease.session);
    const request = JSON.stringify(after(SessionRequest.parse(JSON.parse(now.request)), update));
    const outcome = await store.rewrite(poolUid, now, request);
    if (outcome === "gone") throw gone(lease.session);
    if (outcome !== "changed") return outcome;
  }
  throw new AppError("unavailable", "the session is being changed by others; repeat the request", {
    retryAfterSeconds: 1,
  });
};

/**
 * Changes name, tags and telemetry of an active session. Throws `not_found` and `name_taken`. The agent's copy of the request, from
 * which a lost lease is restored, does not change.
 */
export const updateBrowser = async (
  { idOrName, request }: { idOrName: string; request: UpdateBrowser },
  project: Project,
  deps: ServiceDeps,
): Promise<LeaseRecord> => {
  const found = await findSession(idOrName, { project }, deps);
  const owner = { poolUid: found.poolUid, session: found.lease.session };
  const { name: before } = SessionRequest.parse(JSON.parse(found.lease.request));
  const isRenamed = typeof request.name === "string" && request.name !== "" && request.name !== before;
  if (isRenamed && !(await deps.names.reserve(project.id, request.name ?? "", owner)))
    throw sessionNameTaken(request.name ?? "");
  const lease = await write(found, request, deps);
  // If this fails, the old name stays taken until this session has ended.
  if (before && request.name !== undefined && request.name !== before)
    await deps.names.free(project.id, before, owner).catch(() => undefined);
  return lease;
};

import { wireProblems } from "../../domain/problem.ts";
import { referencesOf } from "../../domain/references.ts";
import { mergeTelemetry } from "../../domain/telemetry-merge.ts";
import { AppError, invalidInput } from "../../errors.ts";
import { type LeaseRecord, SessionRequest } from "../../leases/records.ts";
import { BrowserPoolSpec } from "../../resources/browser-pool.ts";
import type { UpdateBrowser } from "../../resources/browser-wire.ts";
import { Telemetry } from "../../resources/telemetry.ts";
import { fromWire, toWire } from "../../resources/wire.ts";
import { requireReferences } from "../objects/references.ts";
import type { Project } from "../projects/projects.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { type FoundSession, findSession } from "./find-session.ts";
import { leaseTelemetry } from "./lease-telemetry.ts";
import { sessionNameTaken } from "./session-name.ts";

/** How often a write is tried while others change the same session. */
const writeTries = 8;

/** The new value: undefined keeps `before`; null and empty remove it. */
const changed = <T extends string | object>(before: T | undefined, asked: T | null | undefined): T | undefined => {
  if (asked === undefined) return before;
  return asked === null || Object.keys(asked).length === 0 ? undefined : asked;
};

const telemetryAfter = (request: SessionRequest, asked: UpdateBrowser["telemetry"]): unknown => {
  if (!asked) return request.telemetry;
  const merged = mergeTelemetry(leaseTelemetry(request), fromWire(Telemetry, asked));
  if (!merged.ok) throw invalidInput(wireProblems(BrowserPoolSpec, merged.problems));
  return merged.telemetry && toWire(Telemetry, merged.telemetry);
};

const after = (request: SessionRequest, update: UpdateBrowser): SessionRequest => {
  const { name: oldName, tags: oldTags, ...rest } = request;
  const name = changed(oldName, update.name);
  const tags = changed(oldTags, update.tags);
  const telemetry = telemetryAfter(request, update.telemetry);
  return {
    ...rest,
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags }),
    ...(telemetry !== undefined && { telemetry }),
  };
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
  const telemetry = request.telemetry ? fromWire(Telemetry, request.telemetry) : undefined;
  await requireReferences(referencesOf({ telemetry }), project, deps);
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

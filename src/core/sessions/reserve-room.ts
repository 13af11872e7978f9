/** Room for an on-demand browser that begins now, by the limits of its project and of the organization. */
import { AppError } from "../../platform/base/errors.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import type { ApiMetrics } from "../metrics/api-metrics.ts";
import { noOnDemandRoom, onDemandRoom } from "../model/sessions/session-room.ts";
import type { PoolRoomDeps } from "../pools/use-cases/pool-checks.ts";
import type { Project } from "../projects/projects.ts";
import { countedSessions, sessionUse } from "../projects/session-use.ts";
import type { Reservation } from "../reservations/session-room.ts";

/** What it needs. */
export type RoomDeps = PoolRoomDeps & { metrics: ApiMetrics };

/** There is no room for another on-demand browser, as `message` says. */
export const noRoom = (message: string, { metrics }: { metrics: ApiMetrics }): AppError => {
  metrics.limited.inc({ limit: "sessions" });
  return new AppError("too_many_requests", `${message}; end one and repeat the request`, { retryAfterSeconds: 5 });
};

/**
 * Reserves room for the browser of this name in the project and the organization; returns how to give it back. Throws
 * `too_many_requests`.
 */
export const reserveRoom = async (name: string, project: Project, deps: RoomDeps): Promise<() => Promise<void>> => {
  const use = await sessionUse(project, deps);
  const room = onDemandRoom(use);
  if (room.project === 0 || room.organization === 0) throw noRoom(noOnDemandRoom(use, room), deps);
  const reservation: Reservation = { projectId: project.id, id: name, sessions: 1, kind: "browser" };
  const free = (): Promise<void> => deps.sessionRoom.free(reservation).catch(() => undefined);
  const seen = { ...room, counted: [...countedSessions(deps), ...use.blankSessions] };
  const isReserved = await retryBriefly(() => deps.sessionRoom.reserve(reservation, seen)).catch((error: unknown) => {
    // The caller waits no longer for it.
    void free();
    throw error;
  });
  if (isReserved) return free;
  throw noRoom("others start browsers now, and there is no room for one more", deps);
};

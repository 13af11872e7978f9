/**
 * Room for sessions that begin now. A replica counts browsers and pools in its copies, which may lack what another
 * replica created a moment ago. So each creation first reserves its room in Redis, by one script; a reservation counts
 * until the copies show the object, and ends by itself. There is no lock, so nobody waits for another's creation, and a
 * replica that dies blocks nothing. When Redis loses reservations, or a watch lags for longer, the operator still
 * refuses what is above the limits.
 */
import type { RedisConnection } from "../../platform/redis/connection.ts";
import { reservedSessionsKey } from "../../platform/redis/keys.ts";
import { orUnavailable } from "../../platform/redis/or-unavailable.ts";
import { loadScript, runScript } from "../../platform/redis/script.ts";

export type Reservation = {
  projectId: string;
  /** What the copies will show: the object's name, for a pool with its size. */
  id: string;
  sessions: number;
  kind: "browser" | "pool";
};

/** What the replica sees. `counted`: the ids of objects that may be reserved still and that it has counted. */
export type SeenRoom = { project: number; countsPools: boolean; organization: number; counted: readonly string[] };

export type SessionRoom = {
  /** False when there is no room. Throws `unavailable` when Redis does not answer. */
  reserve(reservation: Reservation, seen: SeenRoom): Promise<boolean>;
  /** Gives a reservation back; what was created is gone, or was never created. */
  free(reservation: Reservation): Promise<void>;
};

/** How long a reservation lives, ms: far longer than a watch lags. */
export const reservedMs = 10_000;

const reserveScript = loadScript("reserve-session", import.meta.url);

const letters = { browser: "b", pool: "p" } as const;

/** The room of the organization with this system namespace. */
export const createSessionRoom = (redis: RedisConnection, systemNamespace: string): SessionRoom => ({
  async reserve({ projectId, id, sessions, kind }, { project, countsPools, organization, counted }) {
    const room = [project, countsPools ? 1 : 0, organization];
    const argv = [projectId, id, sessions, letters[kind], ...room, reservedMs, ...counted];
    return (await orUnavailable(runScript(redis, reserveScript, [reservedSessionsKey(systemNamespace)], argv))) === 1;
  },
  async free({ projectId, id, sessions, kind }) {
    await orUnavailable(
      redis.zrem(reservedSessionsKey(systemNamespace), [projectId, id, sessions, letters[kind]].join("|")),
    );
  },
});

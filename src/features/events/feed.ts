import type { Identity } from "../../core/api/announced.ts";
import { leaseOf, type SessionChange } from "../../core/leases/session-changes.ts";
import type { ProjectPermission } from "../../core/model/permission.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { BrowserPoolAnswer } from "../../core/model/pools/browser-pool-wire.ts";
import { newId } from "../../core/objects/new-id.ts";
import { describePools } from "../../core/pools/use-cases/fetch-pool.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { Logger } from "../../platform/base/log.ts";
import { retryBriefly } from "../../platform/redis/or-unavailable.ts";
import { type DescribeDeps, sessionIdentity, sessionObject } from "./describe.ts";
import { eventJson, type Told } from "./event.ts";
import { createInTurn } from "./in-turn.ts";
import type { Ring, Rings } from "./ring.ts";
import { createShared } from "./shared.ts";
import { createSnapshot, type Snapshot, type SnapshotDeps } from "./snapshot.ts";

/** A pool that has changed; `pool` is undefined when it is deleted. */
type PoolChange = {
  event: "created" | "changed" | "deleted";
  identity: Identity;
  pool: BrowserPool | undefined;
};

/** The events of one project, for all of its readers. */
export type Feed = {
  project: Project;
  ring: Ring;
  takeSession(change: SessionChange): void;
  takePool(uid: string, change: PoolChange): void;
  tell(told: Told, permission: ProjectPermission): void;
  /** All that there is when this resolves, within a second. */
  snapshot(): Promise<Snapshot>;
  /** Tells that events may be missing; what was not told yet is in the lists that readers read then. */
  reset(): void;
  close(): void;
};

/** The permission for pools and sessions. */
export const poolsRead = "pools:read";

/** Changes of sessions that wait, and those of a batch, which takes some milliseconds. */
const sessionBounds = { most: 1000, atOnce: 20, pauseMs: 0 };

/** A batch of pools may read the profiles and extensions that they name, so there are five a second. */
const poolBounds = { most: 1000, atOnce: 20, pauseMs: 200 };

const sessionEvents = { began: "created", changed: "changed", ended: "deleted", dropped: "deleted" } as const;

const sessionTold = async (change: SessionChange, deps: DescribeDeps): Promise<Told> => {
  const lease = leaseOf(change);
  const told = { event: sessionEvents[change.what], ...sessionIdentity(lease) };
  return change.what === "dropped" ? told : { ...told, object: await sessionObject(lease, deps) };
};

const poolsTold = async (changes: PoolChange[], deps: DescribeDeps): Promise<Told[]> => {
  const pools = changes.flatMap(({ pool }) => pool ?? []);
  const objects = new Map(
    (await describePools(pools, deps)).map((answer): [string, BrowserPoolAnswer] => [answer.id, answer]),
  );
  return changes.map(({ event, identity }) => {
    const object = event === "deleted" ? undefined : objects.get(identity.id);
    return { event, kind: "pool", ...identity, ...(object && { object }) };
  });
};

/** Readers that begin within this time share a snapshot, ms. */
const snapshotsEveryMs = 1000;

type FeedDeps = SnapshotDeps & { rings: Rings; log: Logger };

/** An empty one. Ids of an earlier feed of the project are unknown to it. */
export const createFeed = (project: Project, { rings, log, ...deps }: FeedDeps): Feed => {
  const ring = rings.open(newId());
  const tell = (told: Told, permission: ProjectPermission): void => ring.push({ json: eventJson(told), permission });
  const tellAll = (all: Told[]) => (): void => {
    for (const told of all) tell(told, poolsRead);
  };
  const reset = (): void => {
    sessions.forget();
    pools.forget();
    ring.push({ json: eventJson({ event: "reset" }), permission: poolsRead });
  };
  const onLost = (err: unknown): void => {
    log.warn({ err, project: project.id }, "events of a project were lost; its readers are told");
    reset();
  };
  const sessions = createInTurn<SessionChange>({
    ...sessionBounds,
    onLost,
    merge: (before, after) =>
      before.what === "began" && after.what === "changed" ? { ...after, what: "began" } : after,
    async work(batch) {
      const told: Told[] = [];
      for (const change of batch) told.push(await retryBriefly(() => sessionTold(change, deps)));
      return tellAll(told);
    },
  });
  const pools = createInTurn<PoolChange>({
    ...poolBounds,
    onLost,
    merge: (before, after) =>
      before.event === "created" && after.event === "changed" ? { ...after, event: "created" } : after,
    work: async (batch) => tellAll(await retryBriefly(() => poolsTold(batch, deps))),
  });
  const snapshot = createShared(snapshotsEveryMs, () =>
    createSnapshot({ id: newId(), project, from: ring.last() }, deps),
  );
  return {
    project,
    ring,
    takeSession: (change) => sessions.add(change.session, change),
    takePool: pools.add,
    tell,
    snapshot,
    reset,
    close() {
      sessions.forget();
      pools.forget();
      ring.close();
    },
  };
};

import { AppError, type ErrorDetail, invalidInput } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/log.ts";
import { wireName } from "../../../platform/kinds/identity.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Locks } from "../../../platform/redis/locks.ts";
import type { Config } from "../../config/config.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { Browser } from "../../model/browsers/browser.ts";
import { isBlank } from "../../model/pools/blank-pool.ts";
import { type BrowserPool, type BrowserPoolSpec, browserPoolKind } from "../../model/pools/browser-pool.ts";
import { growthOf, presentSize, promisedSize } from "../../model/pools/pool-size.ts";
import { onDemandRoom, poolAboveCap } from "../../model/sessions/session-room.ts";
import { sessionTooLong } from "../../model/sessions/session-wire.ts";
import { newReferences, requireReferences } from "../../objects/references.ts";
import { requireFeatures } from "../../objects/require-features.ts";
import type { WatchedObjects } from "../../objects/watched-objects.ts";
import type { PolicyReader } from "../../policies/policy-reader.ts";
import type { Project } from "../../projects/projects.ts";
import { countedSessions, reservedPool, type SessionUseDeps, sessionUse } from "../../projects/session-use.ts";
import type { SessionRoom } from "../../reservations/session-room.ts";

/** What checking and reserving the room of a pool or browser needs. */
export type PoolRoomDeps = {
  browsers: WatchedObjects<Browser>;
  config: Config;
  kube: Kube;
  pools: WatchedObjects<BrowserPool>;
  sessionRoom: SessionRoom;
  setAside: string | undefined;
  store: LeaseStore;
};

/** What writing a pool, and answering with it, needs. */
export type PoolWriteDeps = PoolRoomDeps & { locks: Locks; log: Logger; policies: PolicyReader };

type Wanted = {
  spec: BrowserPoolSpec;
  project: Project;
  /** The pool before the change; undefined for a new pool. Unchanged values are not checked again. */
  before?: BrowserPool;
};

const sumOfSizes = (pools: BrowserPool[]): number =>
  pools.reduce((sum, pool) => sum + (isBlank(pool) ? 0 : presentSize(pool)), 0);

const limitDetails = async (
  { spec, project, before }: Wanted,
  others: BrowserPool[],
  deps: SessionUseDeps,
): Promise<ErrorDetail[]> => {
  const { pooledSessions, fillRatePerMinute, sessionSeconds } = deps.config.limits;
  const tooLong =
    spec.maxSessionSeconds === before?.spec.maxSessionSeconds ? undefined : sessionTooLong(spec, sessionSeconds);
  const details: ErrorDetail[] = tooLong ? [tooLong] : [];
  if (spec.fillRatePerMinute > Math.max(fillRatePerMinute, before?.spec.fillRatePerMinute ?? 0))
    details.push({ path: "fill_rate_per_minute", message: `above the organization's cap of ${fillRatePerMinute}` });
  if (growthOf(spec, before) <= 0) return details;
  const size = promisedSize(spec);
  const path = spec.autoscale ? "autoscale.min" : "size";
  const total = sumOfSizes(others);
  if (total + size > pooledSessions)
    details.push({
      path,
      message: `with ${total} of other pools it exceeds the organization's limit of ${pooledSessions} pooled sessions`,
    });
  const use = await sessionUse(project, deps);
  const pooled = sumOfSizes(others.filter(({ metadata }) => metadata.namespace === project.namespace));
  const aboveCap = poolAboveCap(size, { ...use, inProject: { ...use.inProject, pooled } });
  if (aboveCap !== undefined) details.push({ path, message: aboveCap });
  return details;
};

/**
 * Checks a pool's spec against the other pools and objects: limits (LIMIT-2), a free name, existing references. Throws
 * `bad_request`, `not_supported_here`, `name_taken`, or `not_found` for a reference. Of two requests at once both can
 * pass, unless each is `inTurn`.
 */
export const checkPool = async (wanted: Wanted, deps: SessionUseDeps): Promise<void> => {
  requireFeatures(wanted.spec, deps, wanted.before?.spec);
  const { items } = await deps.kube.list(browserPoolKind);
  const others = items.filter(
    ({ metadata }) => !metadata.deletionTimestamp && metadata.uid !== wanted.before?.metadata.uid,
  );
  const { name } = wanted.spec;
  const rival = others.find(
    (other) => other.metadata.namespace === wanted.project.namespace && name !== undefined && wireName(other) === name,
  );
  if (rival) throw new AppError("name_taken", `name: ${name} is the name of another browser pool of this project`);

  const details = await limitDetails(wanted, others, deps);
  if (details.length > 0) throw invalidInput(details);
  await requireReferences(newReferences(wanted.spec, wanted.before?.spec), wanted.project, deps);
};

/**
 * Runs `work` while no other request checks and writes pools: names and sizes hold for the whole organization. Of each
 * project only one request waits for the turn of the organization, so many of one project don't keep the others
 * waiting. Throws `unavailable` when there is no turn in time.
 */
export const inTurn = <T>({ namespace }: Project, { locks }: { locks: Locks }, work: () => Promise<T>): Promise<T> =>
  locks.hold(["pools", namespace], () => locks.hold(["pools"], work));

/** Reserves what the pool of this name grows by, against on-demand browsers that begin now. Throws `bad_request`. */
export const reserveGrowth = async (
  { spec, project, before, name }: Wanted & { name: string },
  deps: PoolRoomDeps,
): Promise<void> => {
  const growth = growthOf(spec, before);
  const use = await sessionUse(project, deps);
  if (growth <= 0 || use.cap === undefined) return;
  const room = onDemandRoom(use);
  const id = reservedPool({ name, size: promisedSize(spec) });
  const reservation = { projectId: project.id, id, sessions: growth, kind: "pool" } as const;
  const isFree = await deps.sessionRoom.reserve(reservation, {
    ...room,
    counted: [...countedSessions(deps), ...use.blankSessions],
  });
  if (!isFree)
    throw invalidInput([
      {
        path: spec.autoscale ? "autoscale.min" : "size",
        message: `it exceeds the project's limit of ${use.cap} sessions`,
      },
    ]);
};

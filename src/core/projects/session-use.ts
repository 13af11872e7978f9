import { refusalIn } from "../../platform/kinds/conditions.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import type { Config } from "../config/config.ts";
import type { LeaseStore } from "../leases/lease-store.ts";
import { type Browser, isOver } from "../model/browsers/browser.ts";
import { isBlank } from "../model/pools/blank-pool.ts";
import type { BrowserPool } from "../model/pools/browser-pool.ts";
import { presentSize, promisedSize } from "../model/pools/pool-size.ts";
import type { SessionCounts, SessionUse } from "../model/sessions/session-room.ts";
import type { WatchedObjects } from "../objects/watched-objects.ts";
import { projectSessionLimit } from "./change-projects.ts";
import { fetchOrganizationLimits } from "./organization-limits.ts";
import type { Project } from "./projects.ts";

/** What counting sessions needs. */
export type SessionUseDeps = {
  browsers: WatchedObjects<Browser>;
  config: Config;
  kube: Kube;
  pools: WatchedObjects<BrowserPool>;
  setAside: string | undefined;
  store: Pick<LeaseStore, "snapshot">;
};

/**
 * Objects of this age may be reserved still (src/core/reservations/session-room.ts), ms; clocks may differ by the rest.
 */
const mayBeReservedMs = 60_000;

/** A browser that the operator refused runs only when there is room for it. */
const runs = (browser: Browser): boolean =>
  !isOver(browser) && (browser.status?.pod !== undefined || !refusalIn(browser.status?.conditions));

type Deps = SessionUseDeps;

/** Browsers of trials run on capacity of their own. */
const isCallers = ({ metadata }: Browser, { setAside }: Deps): boolean => metadata.namespace !== setAside;

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The sessions in blank browsers of the project, by Redis: the copies come too late for the next request. */
const blankSessionsOf = async ({ namespace }: Project, { pools, store }: Deps): Promise<string[]> => {
  const stock = pools.list().filter((pool) => isBlank(pool) && pool.metadata.namespace === namespace);
  const states = await Promise.all(stock.map(({ metadata }) => store.snapshot(metadata.uid)));
  return states.flatMap(({ browsers }) =>
    browsers.flatMap(({ state, session }) => (state === "leased" && session !== undefined ? [session] : [])),
  );
};

const countsOf = ({ namespace }: Project, blankSessions: string[], { pools, browsers }: Deps): SessionCounts => {
  const isHere = ({ metadata }: NamespacedObject): boolean => metadata.namespace === namespace;
  const pooled = pools.list().filter((pool) => isHere(pool) && !isBlank(pool));
  return {
    pooled: sum(pooled.map(presentSize)),
    onDemand: browsers.list().filter((browser) => isHere(browser) && runs(browser)).length + blankSessions.length,
  };
};

/** The on-demand browsers of all callers. */
const onDemandInAll = (deps: Deps): number =>
  deps.browsers.list().filter((browser) => runs(browser) && isCallers(browser, deps)).length +
  sum(
    deps.pools
      .list()
      .filter(isBlank)
      .map(({ status }) => status?.acquired ?? 0),
  );

/**
 * What the project and the organization use now, by this replica's copies, and what they may use. `blankSessions`: the
 * ids of the project's sessions that are counted in blank browsers.
 */
export const sessionUse = async (project: Project, deps: Deps): Promise<SessionUse & { blankSessions: string[] }> => {
  const blankSessions = await blankSessionsOf(project, deps);
  const { defaultProjectMaxConcurrentSessions } = await fetchOrganizationLimits(deps);
  return {
    cap: projectSessionLimit(project, defaultProjectMaxConcurrentSessions),
    inProject: countsOf(project, blankSessions, deps),
    blankSessions,
    onDemandInAll: onDemandInAll(deps),
    limits: deps.config.limits,
  };
};

/** The id under which a pool of this size is reserved. */
export const reservedPool = ({ name, size }: { name: string; size: number }): string => `${name}:${size}`;

/** The ids of what the copies show and what may be reserved still. */
export const countedSessions = ({
  browsers,
  pools,
}: {
  browsers: WatchedObjects<Browser>;
  pools: WatchedObjects<BrowserPool>;
}): string[] => {
  const sinceMs = Date.now() - mayBeReservedMs;
  const young = browsers.list().filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") > sinceMs);
  return [
    ...young.map(({ metadata }) => metadata.name),
    ...pools.list().map(({ metadata, spec }) => reservedPool({ name: metadata.name, size: promisedSize(spec) })),
  ];
};

/**
 * What the loops of pools and of on-demand browsers have accepted, so that each counts the other's browsers too. A loop
 * asks and writes without an `await` between: so two objects can't both take the last room under a limit.
 */

import { isBlank } from "../../model/pools/blank-pool.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { SessionCounts, SessionLimits, SessionUse } from "../../model/sessions/session-room.ts";
import type { PoolSource } from "../pool-source.ts";
import type { SessionCaps } from "./session-caps.ts";

export type SessionKind = "pools" | "browsers";

export type AcceptedSessions = {
  /** Adds the objects of a loop; to be called once by each. Returns the sizes that it accepts from now on, by uid. */
  open(kind: SessionKind, source: Pick<PoolSource, "list" | "synced">): Map<string, number>;
  /** Resolves when all objects and caps are known. */
  synced(signal: AbortSignal): Promise<void>;
  /** All pools. */
  pools(): BrowserPool[];
  /** The browsers of callers that are accepted, of all projects. */
  all(): SessionCounts;
  /** The uids of all pools and on-demand browsers. */
  uids(): Set<string>;
  /** What others than this pool or browser use, and what may be used. */
  use(pool: BrowserPool): SessionUse;
};

type Loop = { source: Pick<PoolSource, "list" | "synced">; accepted: Map<string, number> };

/** An on-demand browser that is over has the size 0, and uses no room any more. */
const sizeOf = ({ metadata, spec, status }: BrowserPool, accepted: ReadonlyMap<string, number>): number =>
  spec.size === 0 ? 0 : (accepted.get(metadata.uid) ?? status?.acceptedSize ?? 0);

/**
 * `setAside`: the namespace of browsers that no limit of callers counts, and that none bounds: those of the config
 * registry.
 */
type AcceptedSessionsOptions = { limits: SessionLimits; caps: SessionCaps; setAside?: string | undefined };

const unlimited: SessionLimits = {
  pooledSessions: Infinity,
  onDemandSessions: Infinity,
  projectOnDemandSessions: Infinity,
};

/** Of one lead: it begins with nothing. */
export const createAcceptedSessions = ({ limits, caps, setAside }: AcceptedSessionsOptions): AcceptedSessions => {
  const loops: Partial<Record<SessionKind, Loop>> = {};
  const opened = { pools: Promise.withResolvers<Loop>(), browsers: Promise.withResolvers<Loop>() };
  const sum = (kind: SessionKind, isCounted: (pool: BrowserPool) => boolean): number => {
    const loop = loops[kind];
    const counted = loop?.source.list().filter((one) => !one.metadata.deletionTimestamp && isCounted(one)) ?? [];
    return counted.reduce((total, one) => total + (isBlank(one) ? 0 : sizeOf(one, loop?.accepted ?? new Map())), 0);
  };
  /** Blank browsers count while a session has them, as on-demand ones. */
  const countsOf = (isCounted: (pool: BrowserPool) => boolean): SessionCounts => {
    const blank = loops.pools?.source.list().filter((pool) => isBlank(pool) && isCounted(pool)) ?? [];
    const inUse = blank.reduce((total, { status }) => total + (status?.acquired ?? 0), 0);
    return { pooled: sum("pools", isCounted), onDemand: sum("browsers", isCounted) + inUse };
  };
  return {
    open(kind, source) {
      const loop = { source, accepted: new Map<string, number>() };
      loops[kind] = loop;
      opened[kind].resolve(loop);
      return loop.accepted;
    },
    async synced(signal) {
      const [pools, browsers] = await Promise.all([opened.pools.promise, opened.browsers.promise]);
      await Promise.all([pools.source.synced(signal), browsers.source.synced(signal), caps.synced(signal)]);
    },
    pools: () => loops.pools?.source.list() ?? [],
    all() {
      const isCallers = ({ metadata }: BrowserPool): boolean => metadata.namespace !== setAside;
      return countsOf(isCallers);
    },
    uids: () =>
      new Set(Object.values(loops).flatMap(({ source }) => source.list().map(({ metadata }) => metadata.uid))),
    use({ metadata: { uid, namespace } }) {
      const isOther = ({ metadata }: BrowserPool): boolean => metadata.uid !== uid && metadata.namespace !== setAside;
      if (namespace === setAside)
        return { cap: undefined, inProject: { pooled: 0, onDemand: 0 }, onDemandInAll: 0, limits: unlimited };
      const isHere = (pool: BrowserPool): boolean => isOther(pool) && pool.metadata.namespace === namespace;
      return {
        cap: caps.of(namespace),
        inProject: countsOf(isHere),
        onDemandInAll: countsOf(isOther).onDemand,
        limits,
      };
    },
  };
};

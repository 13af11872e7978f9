/**
 * Where events come from, while anybody reads them: messages of Redis about sessions, the watch of pools that the API
 * has anyway, and a watch for each kind that features announce.
 */
import { LRUCache } from "lru-cache";
import { type Announced, identityOf } from "../../core/api/announced.ts";
import { requestOf } from "../../core/leases/records.ts";
import { followSessionChanges, leaseOf, type SessionChange } from "../../core/leases/session-changes.ts";
import type { Browser } from "../../core/model/browsers/browser.ts";
import { isBlank } from "../../core/model/pools/blank-pool.ts";
import type { BrowserPool } from "../../core/model/pools/browser-pool.ts";
import type { WatchedObjects } from "../../core/objects/watched-objects.ts";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { NamespacedObject } from "../../platform/kube/objects.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import type { RedisConnection } from "../../platform/redis/connection.ts";
import type { Feed } from "./feed.ts";
import { createObjectChanges } from "./object-changes.ts";

/** What the sources need. `openSubscriber`: connects to Redis, for subscriptions. `watchKube`: not that of requests. */
export type SourceDeps = {
  announced: readonly Announced[];
  openSubscriber(): RedisConnection;
  redis: RedisConnection;
  watchKube: Kube;
  pools: WatchedObjects<BrowserPool>;
  browsers: WatchedObjects<Browser>;
  log: Logger;
};

/** The feeds of the projects that have readers, or had some a moment ago. */
type Feeds = {
  of(projectId: string): Feed | undefined;
  in(namespace: string): Feed | undefined;
  all(): Iterable<Feed>;
};

export type Sources = {
  /** Resolves when nothing is missed any more. Rejects with the reason of `signal`. */
  live(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

/** Pools whose project is known. Each on-demand browser is one. */
const maxKnownPools = 20_000;

/** How long Redis' losses are gathered, ms: it may lose the leases of many pools at once. */
const gatherMs = 1000;

/** The changes of sessions. */
const startSessions = (feeds: Feeds, { openSubscriber, redis, pools, browsers, log }: SourceDeps): Sources => {
  const projectOf = new LRUCache<string, string>({ max: maxKnownPools });
  const lost = new Map<Feed, ReturnType<typeof setTimeout>>();
  const take = (change: SessionChange): void => {
    let project = projectOf.get(change.poolUid);
    if (project === undefined) {
      // Its own record knows it before a watch does.
      project = requestOf(leaseOf(change)).project;
      projectOf.set(change.poolUid, project);
    }
    feeds.of(project)?.takeSession(change);
  };
  const feedOfPool = (uid: string): Feed | undefined => {
    const project = projectOf.get(uid);
    if (project !== undefined) return feeds.of(project);
    const owner = [...pools.list(), ...browsers.list()].find(({ metadata }) => metadata.uid === uid);
    return owner && feeds.in(owner.metadata.namespace);
  };
  const noteLoss = (feed: Feed): void => {
    if (lost.has(feed)) return;
    const tell = (): void => {
      lost.delete(feed);
      feed.reset();
    };
    lost.set(feed, setTimeout(tell, gatherMs));
  };
  const channel = followSessionChanges({
    subscriber: openSubscriber(),
    redis,
    log,
    onChange(change) {
      try {
        take(change);
      } catch (err) {
        log.error({ err, pool: change.poolUid }, "a change of a session could not be read");
      }
    },
    onMissed(poolUid) {
      if (poolUid === undefined) for (const feed of feeds.all()) feed.reset();
      else {
        const feed = feedOfPool(poolUid);
        if (feed) noteLoss(feed);
      }
    },
  });
  return {
    live: channel.live,
    async stop() {
      for (const timer of lost.values()) clearTimeout(timer);
      channel.stop();
    },
  };
};

/** The changes of pools. */
const startPools = (feeds: Feeds, { pools }: SourceDeps): Sources => {
  const changeOf = createObjectChanges<BrowserPool>(identityOf);
  for (const pool of pools.list()) changeOf(pool, "ADDED");
  const unlisten = pools.listenToAll((pool, change) => {
    if (isBlank(pool)) return;
    const known = changeOf(pool, change);
    if (known)
      feeds
        .in(pool.metadata.namespace)
        ?.takePool(pool.metadata.uid, { ...known, pool: known.event === "deleted" ? undefined : pool });
  });
  return { live: async () => undefined, stop: async () => void unlisten() };
};

/** A watch's copy needs no more. */
const slim = ({ metadata: { name, namespace, uid, resourceVersion } }: NamespacedObject): NamespacedObject => ({
  metadata: { name, namespace, uid, resourceVersion },
});

/** The changes of one kind. */
const startKind = (
  feeds: Feeds,
  { name, kind, permission, identify = identityOf }: Announced,
  deps: SourceDeps,
): Sources => {
  const changeOf = createObjectChanges<NamespacedObject>(identify);
  let isLive = false;
  const reflector = startReflector<NamespacedObject>({
    kube: deps.watchKube,
    type: kind,
    keep: slim,
    log: deps.log,
    onChange(object, change) {
      const known = changeOf(object, change);
      if (!known || !isLive) return;
      feeds.in(object.metadata.namespace)?.tell({ event: known.event, kind: name, ...known.identity }, permission);
    },
  });
  return {
    async live(signal) {
      await reflector.synced(signal);
      isLive = true;
    },
    stop: reflector.stop,
  };
};

/** Starts all of them. */
export const startSources = (feeds: Feeds, deps: SourceDeps): Sources => {
  const all = [
    startSessions(feeds, deps),
    startPools(feeds, deps),
    ...deps.announced.map((each) => startKind(feeds, each, deps)),
  ];
  return {
    async live(signal) {
      await Promise.all(all.map((source) => source.live(signal)));
    },
    async stop() {
      await Promise.all(all.map((source) => source.stop()));
    },
  };
};

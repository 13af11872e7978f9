/**
 * Runs the controllers of vaults, items, credentials, connections, profiles, extensions, proxies and telemetry destinations while this replica
 * leads.
 *
 *   any of them changes ──► enqueue, a moment later, the objects of its namespace whose kinds read it ──► their rounds
 *
 * A round computes on cached objects and writes only what differs. So a few rounds too many cost almost nothing, and no list of
 * dependencies between single objects is needed that could be wrong.
 */

import type { ObjectCaches, ObjectDeps } from "../core/reconcile/object-deps.ts";
import { createSpecPredicate } from "../core/reconcile/predicates.ts";
import { whenLeadEnds } from "../core/reconcile/when-lead-ends.ts";
import { extensionKind } from "../features/extensions/extension.ts";
import { reconcileExtension } from "../features/extensions/reconcile.ts";
import { profileKind } from "../features/profiles/profile.ts";
import { reconcileProfile } from "../features/profiles/reconcile.ts";
import { proxyKind } from "../features/proxies/proxy.ts";
import { reconcileProxy } from "../features/proxies/reconcile.ts";
import type { ProxyProvider } from "../features/proxies/rules/proxy-provider.ts";
import { reconcileDestination } from "../features/telemetry/destinations/reconcile.ts";
import { telemetryDestinationKind } from "../features/telemetry/destinations/telemetry-destination.ts";
import { authConnectionKind } from "../features/vaults/connections/auth-connection.ts";
import { reconcileConnection } from "../features/vaults/connections/reconcile.ts";
import { credentialKind } from "../features/vaults/credentials/credential.ts";
import { reconcileCredential } from "../features/vaults/credentials/reconcile.ts";
import { reconcileItem } from "../features/vaults/items/reconcile.ts";
import { vaultItemKind } from "../features/vaults/items/vault-item.ts";
import { reconcileVault } from "../features/vaults/reconcile.ts";
import { vaultKind } from "../features/vaults/vault.ts";
import type { NetworkJudge } from "../platform/addresses/network-judge.ts";
import type { Logger } from "../platform/base/log.ts";
import type { BlobStore } from "../platform/blobs/blob-store.ts";
import type { Kube } from "../platform/kube/client.ts";
import type { Lead } from "../platform/kube/leader-election.ts";
import { keyOf, type NamespacedObject } from "../platform/kube/objects.ts";
import { type Reflector, startReflector } from "../platform/kube/reflector.ts";
import type { ResourceType } from "../platform/kube/resource-type.ts";
import { type Requeue, startWorkQueue, type WorkMeter, type WorkQueue } from "../platform/kube/work-queue.ts";

/** Objects of one kind that are reconciled at the same time. */
const concurrency = 4;

/** Changes of other objects are batched for this time, ms. */
const batchMs = 100;

type Name = keyof ObjectCaches;

/** The kinds whose rounds read a kind. Each kind also reads itself: of two objects with one name or key, the oldest has it. */
const watchers: Record<Name, readonly Name[]> = {
  vaults: ["vaults", "items"],
  items: ["items", "vaults"],
  credentials: ["credentials", "connections", "items"],
  connections: ["connections", "items"],
  profiles: ["profiles"],
  extensions: ["extensions"],
  // Two proxies may have one name, so none reads another.
  proxies: [],
  destinations: ["destinations"],
};

const reconcilers: Record<Name, (key: string, deps: ObjectDeps) => Promise<Requeue | undefined>> = {
  vaults: reconcileVault,
  items: reconcileItem,
  credentials: reconcileCredential,
  connections: reconcileConnection,
  profiles: reconcileProfile,
  extensions: reconcileExtension,
  proxies: reconcileProxy,
  destinations: reconcileDestination,
};

type ObjectControllersDeps = {
  kube: Kube;
  blobs: BlobStore;
  proxyProvider: ProxyProvider;
  destinationJudge: NetworkJudge;
  meter?: WorkMeter | undefined;
  log: Logger;
};

/** Resolves when this replica no longer leads and all queues and watches have stopped. */
export const runObjectControllers = async (
  { kube, blobs, proxyProvider, destinationJudge, meter, log }: ObjectControllersDeps,
  lead: Lead,
): Promise<void> => {
  const predicate = createSpecPredicate();
  const enqueue = (name: Name, namespace: string): void => {
    for (const { metadata } of caches[name].list())
      if (metadata.namespace === namespace) queues[name].addBatched(keyOf(metadata), batchMs);
  };
  const watch = <T extends NamespacedObject>(name: Name, type: ResourceType<T>): Reflector<T> =>
    startReflector({
      kube,
      type,
      log,
      onChange: (object, change) => {
        if (change === "DELETED") predicate.forget(object);
        else queues[name].add(keyOf(object.metadata));
        if (change !== "DELETED" && !predicate.specChanged(object)) return;
        for (const watcher of watchers[name]) enqueue(watcher, object.metadata.namespace);
      },
    });
  const caches: ObjectCaches = {
    vaults: watch("vaults", vaultKind),
    items: watch("items", vaultItemKind),
    credentials: watch("credentials", credentialKind),
    connections: watch("connections", authConnectionKind),
    profiles: watch("profiles", profileKind),
    extensions: watch("extensions", extensionKind),
    proxies: watch("proxies", proxyKind),
    destinations: watch("destinations", telemetryDestinationKind),
  };
  const deps: ObjectDeps = { kube, blobs, caches, proxyProvider, destinationJudge, lead, now: Date.now };
  const synced = async (): Promise<unknown> =>
    Promise.all(Object.values(caches).map((cache) => cache.synced(lead.signal)));
  const startQueue = (name: Name): WorkQueue =>
    startWorkQueue({
      name,
      concurrency,
      log,
      meter,
      async work(key) {
        await synced();
        return reconcilers[name](key, deps);
      },
    });
  const queues: Record<Name, WorkQueue> = {
    vaults: startQueue("vaults"),
    items: startQueue("items"),
    credentials: startQueue("credentials"),
    connections: startQueue("connections"),
    profiles: startQueue("profiles"),
    extensions: startQueue("extensions"),
    proxies: startQueue("proxies"),
    destinations: startQueue("destinations"),
  };
  await whenLeadEnds(lead);
  await Promise.all(Object.values(queues).map((queue) => queue.stop()));
  await Promise.all(Object.values(caches).map((cache) => cache.stop()));
};

/**
 * Runs the controllers of vaults, items, credentials, connections, profiles, extensions, proxies and telemetry destinations while this replica
 * leads.
 *
 *   any of them changes ──► enqueue, a moment later, the objects of its namespace whose kinds read it ──► their rounds
 *
 * A round computes on cached objects and writes only what differs. So a few rounds too many cost almost nothing, and no list of
 * dependencies between single objects is needed that could be wrong.
 */
import type { BlobStore } from "../blobs/blob-store.ts";
import { reconcileConnection } from "../controllers/auth-connection/reconcile.ts";
import { reconcileCredential } from "../controllers/credential/reconcile.ts";
import { reconcileExtension } from "../controllers/extension/reconcile.ts";
import type { ObjectCaches, ObjectDeps } from "../controllers/object-deps.ts";
import { createSpecPredicate } from "../controllers/predicates.ts";
import { reconcileProfile } from "../controllers/profile/reconcile.ts";
import { reconcileProxy } from "../controllers/proxy/reconcile.ts";
import { reconcileDestination } from "../controllers/telemetry-destination/reconcile.ts";
import { reconcileVault } from "../controllers/vault/reconcile.ts";
import { reconcileItem } from "../controllers/vault-item/reconcile.ts";
import { whenLeadEnds } from "../controllers/when-lead-ends.ts";
import type { NetworkJudge } from "../domain/network-judge.ts";
import type { ProxyProvider } from "../domain/proxy-provider.ts";
import type { Kube } from "../kube/client.ts";
import type { Lead } from "../kube/leader-election.ts";
import { keyOf, type NamespacedObject } from "../kube/objects.ts";
import { type Reflector, startReflector } from "../kube/reflector.ts";
import type { ResourceType } from "../kube/resource-type.ts";
import { type Requeue, startWorkQueue, type WorkMeter, type WorkQueue } from "../kube/work-queue.ts";
import type { Logger } from "../log.ts";
import { authConnectionKind } from "../resources/auth-connection.ts";
import { credentialKind } from "../resources/credential.ts";
import { extensionKind } from "../resources/extension.ts";
import { profileKind } from "../resources/profile.ts";
import { proxyKind } from "../resources/proxy.ts";
import { telemetryDestinationKind } from "../resources/telemetry-destination.ts";
import { vaultKind } from "../resources/vault.ts";
import { vaultItemKind } from "../resources/vault-item.ts";

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

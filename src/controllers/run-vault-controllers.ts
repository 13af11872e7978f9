/**
 * Runs the controllers of vaults, items, credentials and connections while this replica leads.
 *
 *   any of them changes ──► enqueue, a moment later, the objects of its namespace whose kinds read it ──► their rounds
 *
 * A round computes on cached objects and writes only what differs. So a few rounds too many cost almost nothing, and no list of
 * dependencies between single objects is needed that could be wrong.
 */
import type { Kube } from "../kube/client.ts";
import type { Lead } from "../kube/leader-election.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import { type Reflector, startReflector } from "../kube/reflector.ts";
import type { ResourceType } from "../kube/resource-type.ts";
import { type Requeue, startWorkQueue, type WorkMeter, type WorkQueue } from "../kube/work-queue.ts";
import type { Logger } from "../log.ts";
import { authConnectionKind } from "../resources/auth-connection.ts";
import { credentialKind } from "../resources/credential.ts";
import { vaultKind } from "../resources/vault.ts";
import { vaultItemKind } from "../resources/vault-item.ts";
import { reconcileConnection } from "./auth-connection/reconcile.ts";
import { reconcileCredential } from "./credential/reconcile.ts";
import { createSpecPredicate } from "./predicates.ts";
import { reconcileVault } from "./vault/reconcile.ts";
import type { VaultCaches, VaultDeps } from "./vault-deps.ts";
import { reconcileItem } from "./vault-item/reconcile.ts";
import { whenLeadEnds } from "./when-lead-ends.ts";

/** Objects of one kind that are reconciled at the same time. */
const concurrency = 4;

/** Changes of other objects are batched for this time, ms. */
const batchMs = 100;

type Name = keyof VaultCaches;

/** The kinds whose rounds read a kind. Each kind also reads itself: of two objects with one name or key, the oldest has it. */
const watchers: Record<Name, readonly Name[]> = {
  vaults: ["vaults", "items"],
  items: ["items", "vaults"],
  credentials: ["credentials", "connections", "items"],
  connections: ["connections", "items"],
};

const reconcilers: Record<Name, (key: string, deps: VaultDeps) => Promise<Requeue | undefined>> = {
  vaults: reconcileVault,
  items: reconcileItem,
  credentials: reconcileCredential,
  connections: reconcileConnection,
};

const names = Object.keys(reconcilers) as Name[];

export type VaultControllersDeps = { kube: Kube; meter?: WorkMeter | undefined; log: Logger };

/** Resolves when this replica no longer leads and all queues and watches have stopped. */
export const runVaultControllers = async ({ kube, meter, log }: VaultControllersDeps, lead: Lead): Promise<void> => {
  const predicate = createSpecPredicate();
  const enqueue = (name: Name, namespace: string | undefined): void => {
    for (const { metadata } of (caches[name] as Reflector<KubeObject>).list())
      if (metadata.namespace === namespace) queues[name].addBatched(keyOf(metadata), batchMs);
  };
  const watch = <T extends KubeObject>(name: Name, type: ResourceType<KubeObject>): Reflector<T> =>
    startReflector<KubeObject>({
      kube,
      type,
      log,
      onChange: (object, change) => {
        if (change === "DELETED") predicate.forget(object);
        else queues[name].add(keyOf(object.metadata));
        if (change !== "DELETED" && !predicate.specChanged(object)) return;
        for (const watcher of watchers[name]) enqueue(watcher, object.metadata.namespace);
      },
    }) as unknown as Reflector<T>;
  const caches: VaultCaches = {
    vaults: watch("vaults", vaultKind),
    items: watch("items", vaultItemKind),
    credentials: watch("credentials", credentialKind),
    connections: watch("connections", authConnectionKind),
  };
  const deps: VaultDeps = { kube, caches, lead, now: Date.now };
  const synced = async (): Promise<unknown> => Promise.all(names.map((name) => caches[name].synced(lead.signal)));
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
  };
  await whenLeadEnds(lead);
  await Promise.all(names.map((name) => queues[name].stop()));
  await Promise.all(names.map((name) => caches[name].stop()));
};

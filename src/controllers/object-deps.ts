/** The dependencies and steps that the controllers of vaults, items, credentials, connections, profiles, extensions, proxies and telemetry destinations share. */
import { isDeepStrictEqual } from "node:util";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { NetworkJudge } from "../domain/network-judge.ts";
import type { ProxyProvider } from "../domain/proxy-provider.ts";
import type { Kube } from "../kube/client.ts";
import type { Lead } from "../kube/leader-election.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Reflector } from "../kube/reflector.ts";
import type { ResourceType } from "../kube/resource-type.ts";
import type { AuthConnection } from "../resources/auth-connection.ts";
import type { Credential } from "../resources/credential.ts";
import type { Extension } from "../resources/extension.ts";
import { byAge } from "../resources/identity.ts";
import type { Profile } from "../resources/profile.ts";
import type { WebProxy } from "../resources/proxy.ts";
import type { TelemetryDestination } from "../resources/telemetry-destination.ts";
import type { Vault } from "../resources/vault.ts";
import type { VaultItem } from "../resources/vault-item.ts";

/** The watches' copies of all objects of these kinds. */
export type ObjectCaches = {
  vaults: Reflector<Vault>;
  items: Reflector<VaultItem>;
  credentials: Reflector<Credential>;
  connections: Reflector<AuthConnection>;
  profiles: Reflector<Profile>;
  extensions: Reflector<Extension>;
  proxies: Reflector<WebProxy>;
  destinations: Reflector<TelemetryDestination>;
};

export type ObjectDeps = {
  kube: Kube;
  /** The contents of profiles and extensions. */
  blobs: BlobStore;
  caches: ObjectCaches;
  lead: Pick<Lead, "check">;
  /** The gateways of the installation's provider of proxies. */
  proxyProvider: ProxyProvider;
  /** Of the endpoints of telemetry destinations. */
  destinationJudge: NetworkJudge;
  /** ms since the epoch. */
  now: () => number;
};

/** The objects of a namespace that are not being deleted. */
export const liveIn = <T extends KubeObject>(namespace: string, objects: Pick<Reflector<T>, "list">): T[] =>
  objects.list().filter(({ metadata }) => metadata.namespace === namespace && !metadata.deletionTimestamp);

/** Of all objects with the same claim, the oldest holds it. `others`: may include `object` itself. */
export const holderOf = <T extends KubeObject>(object: T, others: T[], claimOf: (object: T) => string): T | undefined =>
  others.filter((other) => claimOf(other) === claimOf(object)).sort(byAge)[0];

/** Writes a status if it differs from the one that the object has. */
export const writeStatus = async <T extends KubeObject & { status?: object }>(
  kind: ResourceType<T>,
  { object, status, cache }: { object: T; status: NonNullable<T["status"]>; cache: Reflector<T> },
  { kube, lead }: ObjectDeps,
): Promise<void> => {
  if (isDeepStrictEqual(object.status, status)) return;
  lead.check();
  cache.put(await kube.replace(kind, { ...object, status }, { subresource: "status" }));
};

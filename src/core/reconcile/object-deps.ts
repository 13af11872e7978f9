/** The dependencies and steps that the controllers of vaults, items, credentials, connections, profiles, extensions, proxies and telemetry destinations share. */
import { isDeepStrictEqual } from "node:util";
import type { Extension } from "../../features/extensions/extension.ts";
import type { Profile } from "../../features/profiles/profile.ts";
import type { WebProxy } from "../../features/proxies/proxy.ts";
import type { ProxyProvider } from "../../features/proxies/rules/proxy-provider.ts";
import type { TelemetryDestination } from "../../features/telemetry/destinations/telemetry-destination.ts";
import type { AuthConnection } from "../../features/vaults/connections/auth-connection.ts";
import type { Credential } from "../../features/vaults/credentials/credential.ts";
import type { VaultItem } from "../../features/vaults/items/vault-item.ts";
import type { Vault } from "../../features/vaults/vault.ts";
import type { NetworkJudge } from "../../platform/addresses/network-judge.ts";
import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { byAge } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import type { Lead } from "../../platform/kube/leader-election.ts";
import type { KubeObject } from "../../platform/kube/objects.ts";
import type { Reflector } from "../../platform/kube/reflector.ts";
import type { ResourceType } from "../../platform/kube/resource-type.ts";

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

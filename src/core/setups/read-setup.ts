import { archiveKey, type Extension } from "../../features/extensions/extension.ts";
import { type Profile, profileBlobKey } from "../../features/profiles/profile.ts";
import { openParentProxy } from "../../features/proxies/open-parent-proxy.ts";
import type { WebProxy } from "../../features/proxies/proxy.ts";
import { wireName } from "../../platform/kinds/identity.ts";
import { joinPath } from "../../platform/kinds/wire.ts";
import { browserKind } from "../model/browsers/browser.ts";
import { onDemandPoolSpec, type PoolLikeSpec } from "../model/browsers/on-demand-pool.ts";
import { type BrowserPoolSpec, browserPoolKind } from "../model/pools/browser-pool.ts";
import { configHash } from "../model/settings/browser-config.ts";
import { chromePolicyProblems } from "../model/settings/policies/chrome-policy.ts";
import {
  type ReferencedObjects,
  type ResolvedReferences,
  referencesOf,
  resolveReferences,
} from "../model/settings/references.ts";
import { fetchReferenced } from "../objects/references.ts";
import type { ArchiveRef, BrowserSetup, NetworkSetup, ParentProxy } from "../protocol/browser-setup.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { SetupRequest } from "./setup-requests.ts";

type Deps = Pick<ServiceDeps, "kube" | "policies" | "secretsKeys" | "proxyProvider">;

/** `blobs`: the keys of its archives in the store of blobs, by their digests. */
export type SetupToDeliver = { setup: BrowserSetup; blobs: ReadonlyMap<string, string> };

/** An archive, and its key in the store of blobs. */
export type StoredArchive = ArchiveRef & { key: string };

/** A setup can't be made now; the message says why, to the owner of the pool. */
export class SetupFailure extends Error {}

/** The object's spec as that of a pool; undefined when the object is gone or is another one by now. */
const specOf = async (
  { kind, namespace, name, uid }: SetupRequest,
  { kube }: Deps,
): Promise<PoolLikeSpec | undefined> => {
  if (kind === "Browser") {
    const browser = await kube.get(browserKind, { namespace, name });
    return browser?.metadata.uid === uid ? onDemandPoolSpec(browser.spec) : undefined;
  }
  const pool = await kube.get(browserPoolKind, { namespace, name });
  return pool?.metadata.uid === uid ? pool.spec : undefined;
};

const policyOf = async (
  { chromePolicy, chromePolicyRef }: BrowserPoolSpec,
  namespace: string,
  { policies }: Deps,
): Promise<Record<string, unknown> | undefined> => {
  if (!chromePolicyRef) return chromePolicy;
  const policy = await policies.read(namespace, chromePolicyRef);
  if (!policy) throw new SetupFailure("parts of its Chrome policy are missing (chromePolicyRef)");
  // Whoever may write ConfigMaps and pools can refer to a policy that no check has seen.
  const [problem] = chromePolicyProblems(policy);
  if (problem) throw new SetupFailure(`chromePolicyRef: ${joinPath(problem.path.slice(1))} ${problem.message}`);
  return policy;
};

/** `proxyId`, `routeProxyIds`: of `ResolvedReferences`. A provider keeps one address for each browser. */
const networkOf = async (
  { network, proxyId }: BrowserPoolSpec,
  { request, objects, ids }: { request: SetupRequest; objects: ReferencedObjects; ids: ResolvedReferences },
  deps: Deps,
): Promise<NetworkSetup | undefined> => {
  if (!network && proxyId === undefined) return undefined;
  const wanted = [...(proxyId === undefined ? [] : [ids.proxyId]), ...ids.routeProxyIds];
  const open = async (id: string | undefined): Promise<ParentProxy> => {
    const proxy = objects.Proxy?.find(({ metadata }) => metadata.name === id) as WebProxy | undefined;
    if (!proxy) throw new SetupFailure("a proxy that its settings name is gone");
    return openParentProxy(proxy, request.browser, deps);
  };
  return {
    ...(network?.allowedHosts && { allowed_hosts: network.allowedHosts }),
    ...(network?.privateHosts && { private_hosts: network.privateHosts }),
    routes: (network?.proxyRoutes ?? []).map(({ hosts }, index) => ({ hosts, proxy: ids.routeProxyIds[index] ?? "" })),
    ...(ids.proxyId && { proxy: ids.proxyId }),
    proxies: await Promise.all([...new Set(wanted)].map(open)),
  };
};

/** The profile with this id. */
export const profileOf = (objects: ReferencedObjects, id: string | undefined): Profile | undefined =>
  objects.Profile?.find(({ metadata }) => metadata.name === id) as Profile | undefined;

/** The archive of the profile's present version, if there is one yet. */
export const contentsOf = (profile: Profile | undefined): StoredArchive | undefined => {
  const { version = 0, sha256, sizeBytes } = profile?.status ?? {};
  if (!profile || version === 0 || sha256 === undefined || sizeBytes === undefined) return undefined;
  return { sha256, bytes: sizeBytes, key: profileBlobKey(profile, version) };
};

type StoredExtension = StoredArchive & { id: string; name: string };

/** The archives of the extensions with these ids, in their order. Throws `SetupFailure` for one whose upload is not over. */
const extensionsOf = (objects: ReferencedObjects, ids: string[]): StoredExtension[] =>
  ids.map((id) => {
    const extension = objects.Extension?.find(({ metadata }) => metadata.name === id) as Extension | undefined;
    const archive = extension?.spec.archive;
    if (!extension || !archive) throw new SetupFailure(`the archive of the extension ${id} is not stored yet`);
    const name = wireName(extension) ?? id;
    return {
      id: extension.metadata.uid,
      name,
      sha256: archive.sha256,
      bytes: archive.sizeBytes,
      key: archiveKey(extension),
    };
  });

/**
 * Reads what the browser of this request needs: policies from their ConfigMaps, proxies with their Secrets. `outdated`: its pod was made
 * for another configuration than its object has now. Throws `SetupFailure`.
 */
export const readSetup = async (request: SetupRequest, deps: Deps): Promise<SetupToDeliver | "outdated"> => {
  const spec = await specOf(request, deps);
  if (!spec || configHash(spec) !== request.config) return "outdated";
  const policy = await policyOf(spec, request.namespace, deps);
  const objects = await fetchReferenced(referencesOf(spec), request, deps);
  const ids = resolveReferences(spec, objects);
  const network = await networkOf(spec, { request, objects, ids }, deps);
  const profile = profileOf(objects, ids.profileId);
  const contents = contentsOf(profile);
  const extensions = extensionsOf(objects, ids.extensionIds);
  const archives = [...extensions, ...(contents ? [contents] : [])];
  return {
    setup: {
      ...(policy && { policy }),
      ...(network && { network }),
      extensions: extensions.map(({ key: _, ...extension }) => extension),
      ...(contents && { profile: { sha256: contents.sha256, bytes: contents.bytes } }),
      ...(spec.savesProfile && profile && { save_to: profile.metadata.uid }),
    },
    blobs: new Map(archives.map(({ sha256, key }) => [sha256, key])),
  };
};

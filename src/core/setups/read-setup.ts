import { joinPath } from "../../platform/kinds/wire.ts";
import type { Kube } from "../../platform/kube/client.ts";
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
import type { PolicyReader } from "../policies/policy-reader.ts";
import type { BrowserSetup, NetworkSetup, ParentProxy } from "../protocol/browser-setup.ts";
import type { Referents, StoredExtension } from "./referents.ts";
import type { SetupRequest } from "./setup-requests.ts";

type Deps = { kube: Kube; policies: PolicyReader; referents: Referents };

/** `blobs`: the keys of its archives in the store of blobs, by their digests. */
export type SetupToDeliver = { setup: BrowserSetup; blobs: ReadonlyMap<string, string> };

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

/** A browser by its pod's uid, and the namespace of the objects that its settings refer to. */
type Place = { browser: string; namespace: string };

/** `proxyId`, `routeProxyIds`: of `ResolvedReferences`. A provider keeps one address for each browser. */
const networkOf = async (
  { network, proxyId }: BrowserPoolSpec,
  { browser, objects, ids }: { browser: string; objects: ReferencedObjects; ids: ResolvedReferences },
  deps: Deps,
): Promise<NetworkSetup | undefined> => {
  if (!network && proxyId === undefined) return undefined;
  const wanted = [...(proxyId === undefined ? [] : [ids.proxyId]), ...ids.routeProxyIds];
  const open = async (id: string | undefined): Promise<ParentProxy> => {
    const proxy = objects.Proxy?.find(({ metadata }) => metadata.name === id);
    if (!proxy) throw new SetupFailure("a proxy that its settings name is gone");
    return deps.referents.openProxy(proxy, browser);
  };
  return {
    ...(network?.allowedHosts && { allowed_hosts: network.allowedHosts }),
    ...(network?.privateHosts && { private_hosts: network.privateHosts }),
    routes: (network?.proxyRoutes ?? []).map(({ hosts }, index) => ({ hosts, proxy: ids.routeProxyIds[index] ?? "" })),
    ...(ids.proxyId && { proxy: ids.proxyId }),
    proxies: await Promise.all([...new Set(wanted)].map(open)),
  };
};

/**
 * The archives of the extensions with these ids, in their order. Throws `SetupFailure` for one whose upload is not
 * over.
 */
const extensionsOf = (objects: ReferencedObjects, ids: string[], { referents }: Deps): StoredExtension[] =>
  ids.map((id) => {
    const extension = objects.Extension?.find(({ metadata }) => metadata.name === id);
    const stored = extension && referents.extension(extension);
    if (!stored) throw new SetupFailure(`the archive of the extension ${id} is not stored yet`);
    return stored;
  });

/**
 * Reads what a browser with these settings needs: policies from their ConfigMaps, proxies with their Secrets. Throws
 * `SetupFailure`.
 */
export const setupOf = async (
  spec: PoolLikeSpec,
  { browser, namespace }: Place,
  deps: Deps,
): Promise<SetupToDeliver> => {
  const policy = await policyOf(spec, namespace, deps);
  const objects = await fetchReferenced(referencesOf(spec), { namespace }, deps);
  const ids = resolveReferences(spec, objects);
  const network = await networkOf(spec, { browser, objects, ids }, deps);
  const profile = objects.Profile?.find(({ metadata }) => metadata.name === ids.profileId);
  const contents = profile && (await deps.referents.profile(profile));
  const extensions = extensionsOf(objects, ids.extensionIds, deps);
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

/**
 * The same for the browser of this request. `outdated`: its pod was made for another configuration than its object has
 * now.
 */
export const readSetup = async (request: SetupRequest, deps: Deps): Promise<SetupToDeliver | "outdated"> => {
  const spec = await specOf(request, deps);
  return spec && configHash(spec) === request.config ? setupOf(spec, request, deps) : "outdated";
};

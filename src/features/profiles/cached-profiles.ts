/**
 * All profiles of the organization, kept up to date by a watch: so an answer about a session asks the API server for
 * none.
 */

import type { Logger } from "../../platform/base/log.ts";
import { byAge, wireName } from "../../platform/kinds/identity.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { startReflector } from "../../platform/kube/reflector.ts";
import { type Profile, profileKind } from "./profile.ts";

export type CachedProfiles = {
  /** By id, else by name the older of two. The copy may be a moment behind. */
  find(selector: { id?: string | undefined; name?: string | undefined }, namespace: string): Profile | undefined;
};

const nameKey = (namespace: string, name: string): string => `${namespace}/${name}`;

const indexByName = (profiles: Profile[]): Map<string, Profile> =>
  new Map(
    profiles
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      // The last one with a key stays.
      .sort((a, b) => byAge(b, a))
      .flatMap((profile) => {
        const name = wireName(profile);
        return name === undefined ? [] : [[nameKey(profile.metadata.namespace, name), profile]];
      }),
  );

/** Starts the watch. It finds nothing before `synced` has resolved; that rejects if `signal` is aborted first. */
export const startCachedProfiles = ({
  kube,
  log,
}: {
  kube: Kube;
  log: Logger;
}): CachedProfiles & { synced(signal?: AbortSignal): Promise<void>; stop(): Promise<void> } => {
  let byName: Map<string, Profile> | undefined;
  const reflector = startReflector({
    kube,
    type: profileKind,
    log,
    onChange: () => {
      byName = undefined;
    },
  });
  return {
    find({ id, name }, namespace) {
      if (id !== undefined) return reflector.get({ namespace, name: id });
      byName ??= indexByName(reflector.list());
      return byName.get(nameKey(namespace, name ?? ""));
    },
    synced: reflector.synced,
    stop: reflector.stop,
  };
};

import type { Kube } from "../../kube/client.ts";
import { configMaps } from "../../kube/resource-type.ts";
import type { Logger } from "../../log.ts";
import type { ChromePolicyRef } from "../../resources/pool-policy.ts";
import { type ChromePolicy, unpackPolicy } from "./policy-parts.ts";

export type PolicyReader = {
  /**
   * The policy that a pool of this namespace refers to, not to be changed; undefined when a part is missing or damaged,
   * which is logged. Throws as the Kubernetes client does. Those who ask at the same moment share one read.
   */
  read(namespace: string, ref: ChromePolicyRef): Promise<ChromePolicy | undefined>;
};

/** Policies that are kept in memory, bytes of JSON together; parsed ones take a small multiple of it. */
const defaultMaxKeptBytes = 32 * 1024 * 1024;

/** Policies never change under their hash, so each is read once while it is among those that were asked for last. */
export const createPolicyReader = ({
  kube,
  log,
  maxKeptBytes = defaultMaxKeptBytes,
}: {
  kube: Pick<Kube, "get">;
  log: Logger;
  maxKeptBytes?: number;
}): PolicyReader => {
  /** The one that was used last stands at the end. */
  const kept = new Map<string, { policy: ChromePolicy; bytes: number }>();
  const reading = new Map<string, Promise<ChromePolicy | undefined>>();
  let keptBytes = 0;

  const forget = (key: string): void => {
    keptBytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, entry: { policy: ChromePolicy; bytes: number }): void => {
    forget(key);
    kept.set(key, entry);
    keptBytes += entry.bytes;
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxKeptBytes) return;
      forget(oldest);
    }
  };
  const load = async (key: string, namespace: string, ref: ChromePolicyRef): Promise<ChromePolicy | undefined> => {
    const parts = await Promise.all(ref.configMaps.map((name) => kube.get(configMaps, { namespace, name })));
    try {
      const unpacked = await unpackPolicy(ref, parts);
      keep(key, unpacked);
      return unpacked.policy;
    } catch (err) {
      log.warn({ err, namespace, parts: ref.configMaps }, "a Chrome policy can't be put together");
      return undefined;
    }
  };
  return {
    read(namespace, ref) {
      // The namespace is part of it: whoever learns a hash must not read another project's policy by it.
      const key = `${namespace}/${ref.sha256}`;
      const found = kept.get(key);
      if (found) {
        keep(key, found);
        return Promise.resolve(found.policy);
      }
      const readingKey = [key, ...ref.configMaps].join(" ");
      const running = reading.get(readingKey) ?? load(key, namespace, ref).finally(() => reading.delete(readingKey));
      reading.set(readingKey, running);
      return running;
    },
  };
};

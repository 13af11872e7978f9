import { LRUCache } from "lru-cache";
import type { Logger } from "../../platform/base/log.ts";
import type { Kube } from "../../platform/kube/client.ts";
import { configMaps } from "../../platform/kube/resource-type.ts";
import type { ChromePolicyRef } from "../model/settings/pool-policy.ts";
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
  const kept = new LRUCache<string, { policy: ChromePolicy; bytes: number }>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const reading = new Map<string, Promise<ChromePolicy | undefined>>();

  const load = async (key: string, namespace: string, ref: ChromePolicyRef): Promise<ChromePolicy | undefined> => {
    const parts = await Promise.all(ref.configMaps.map((name) => kube.get(configMaps, { namespace, name })));
    try {
      const unpacked = await unpackPolicy(ref, parts);
      kept.set(key, unpacked);
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
      if (found) return Promise.resolve(found.policy);
      const readingKey = [key, ...ref.configMaps].join(" ");
      const running = reading.get(readingKey) ?? load(key, namespace, ref).finally(() => reading.delete(readingKey));
      reading.set(readingKey, running);
      return running;
    },
  };
};

/**
 * The browsers that have ended and whose profile is not saved yet, for all loops: a browser that starts with the
 * profile waits for them, so that who ends one browser and starts the next one finds there what the first one left.
 */

import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import { keyOf, type Pod } from "../../../platform/kube/objects.ts";
import { startReflector } from "../../../platform/kube/reflector.ts";
import { pods as podType } from "../../../platform/kube/resource-type.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import { poolLabel, savedProfileUid, savesProfileLabel } from "../pod/pod.ts";
import { isOver } from "./pod-state.ts";

export type EndingSavers = {
  /** Whether there is one for the profile with this uid. Throws `unavailable` when Redis does not answer. */
  has(profileUid: string): Promise<boolean>;
  synced(signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

type EndingSaversDeps = {
  kube: Kube;
  store: Pick<LeaseStore, "snapshot">;
  /** Whether the save for the pod with this key is over, whatever became of it. */
  isSettled(podKey: string): boolean;
  log: Logger;
};

/** Starts a watch of the pods whose browsers save a profile. The caller must call `stop`. */
export const startEndingSavers = ({ kube, store, isSettled, log }: EndingSaversDeps): EndingSavers => {
  const pods = startReflector({
    kube,
    type: podType,
    labelSelector: savesProfileLabel,
    onChange: () => undefined,
    log,
  });
  /** Redis knows of an end before it is answered; the pod's deletion follows. */
  const hasEnded = async ({ metadata }: Pod): Promise<boolean> => {
    if (metadata.deletionTimestamp) return true;
    const { browsers } = await store.snapshot(metadata.labels?.[poolLabel] ?? "");
    return browsers.some(({ id, state }) => id === metadata.uid && state === "retired");
  };
  return {
    async has(profileUid) {
      const savers = pods
        .list()
        .filter((pod) => savedProfileUid(pod) === profileUid && !isOver(pod) && !isSettled(keyOf(pod.metadata)));
      for (const saver of savers) if (await hasEnded(saver)) return true;
      return false;
    },
    synced: pods.synced,
    stop: pods.stop,
  };
};

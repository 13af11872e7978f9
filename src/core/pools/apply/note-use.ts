import type { Logger } from "../../../platform/base/log.ts";
import type { Kube } from "../../../platform/kube/client.ts";
import type { Lead } from "../../../platform/kube/leader-election.ts";
import { keyOf, type Ref } from "../../../platform/kube/objects.ts";
import type { Observed } from "../observe/observed.ts";
import type { PoolAction } from "../plan/actions.ts";

/** Notes that a browser has started with the profile now, unless another one has within the last minute. */
export type NoteProfileUse = (
  profile: { uid: string } & Ref,
  deps: { kube: Kube; lead: Pick<Lead, "check">; now: () => number },
) => Promise<void>;

/**
 * Notes that a browser has started with a profile. An error is logged only: the next browser that starts notes its own
 * time.
 */
export const noteUse = async (
  { profile }: Extract<PoolAction, { do: "use" }>,
  { pool, leases }: Pick<Observed, "pool" | "leases">,
  { kube, lead, noteProfileUse, log }: { kube: Kube; lead: Lead; noteProfileUse: NoteProfileUse; log: Logger },
): Promise<void> => {
  const ref = { ...profile, namespace: pool.metadata.namespace };
  await noteProfileUse(ref, { kube, lead, now: () => leases.nowMs }).catch((err: unknown) =>
    log.warn({ err, profile: keyOf(ref) }, "the use of a profile could not be noted"),
  );
};

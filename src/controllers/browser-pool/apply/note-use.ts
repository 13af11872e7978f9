import type { Kube } from "../../../kube/client.ts";
import type { Lead } from "../../../kube/leader-election.ts";
import { keyOf } from "../../../kube/objects.ts";
import type { Logger } from "../../../log.ts";
import { noteProfileUse } from "../../profile-versions.ts";
import type { Observed } from "../observe/observed.ts";
import type { PoolAction } from "../plan/actions.ts";

/** Notes that a browser has started with a profile. An error is logged only: the next browser that starts notes its own time. */
export const noteUse = async (
  { profile }: Extract<PoolAction, { do: "use" }>,
  { pool, leases }: Pick<Observed, "pool" | "leases">,
  { kube, lead, log }: { kube: Kube; lead: Lead; log: Logger },
): Promise<void> => {
  const ref = { ...profile, namespace: pool.metadata.namespace };
  await noteProfileUse(ref, { kube, lead, now: () => leases.nowMs }).catch((err: unknown) =>
    log.warn({ err, profile: keyOf(ref) }, "the use of a profile could not be noted"),
  );
};

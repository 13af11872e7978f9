import { AppError } from "../../errors.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { LeaseOwner } from "./lease-owners.ts";

/** Whether Redis has lost what it knew of a pool or an on-demand browser, and not all of its agents were asked yet. */
export const isRecovering = async (
  { metadata, status }: LeaseOwner,
  { store }: Pick<ServiceDeps, "store">,
): Promise<boolean> =>
  // What the operator has not begun with has handed out nothing.
  status?.leaseEpoch !== undefined && store.isRecovering(metadata.uid);

/**
 * For a session that was not found in any of these places: throws `unavailable` when it may live all the same, because
 * what Redis knew of the place is being recovered. Costs a read each, so only for a look-up in vain.
 */
export const refuseWhileRecovering = async (
  session: string,
  owners: LeaseOwner[],
  deps: Pick<ServiceDeps, "store">,
): Promise<void> => {
  const mayLive = await Promise.all(
    owners.map(
      async (home) => (await isRecovering(home, deps)) && !(await deps.store.endedLease(home.metadata.uid, session)),
    ),
  );
  if (mayLive.includes(true))
    throw new AppError("unavailable", "its sessions are being recovered; repeat the request", {
      retryAfterSeconds: 1,
    });
};

import { AppError } from "../../../platform/base/errors.ts";
import type { LeaseStore } from "../../leases/lease-store.ts";
import type { NamesComplete } from "../../leases/names-in-use.ts";
import type { Browser } from "../../model/browsers/browser.ts";
import type { BrowserPool } from "../../model/pools/browser-pool.ts";
import type { WatchedObjects } from "../../objects/watched-objects.ts";
import type { Project } from "../../projects/projects.ts";
import { type LeaseOwner, liveOwnersOf } from "./lease-owners.ts";

/**
 * Whether Redis may have lost writes about a pool or on-demand browser, and not all of its agents were inspected since.
 */
export const isRecovering = async (
  { metadata, status }: LeaseOwner,
  { store }: { store: LeaseStore },
): Promise<boolean> =>
  // An object without an epoch had no round of the operator yet, so it has no leases.
  status?.leaseEpoch !== undefined && store.isRecovering(metadata.uid);

/**
 * For a name that no session of the project has: throws `unavailable` when Redis may have forgotten it. It asks for
 * each pool and browser of the project only after a loss of data.
 */
export const refuseWhileNamesAreRecovered = async (
  name: string,
  project: Project,
  deps: {
    browsers: WatchedObjects<Browser>;
    namesComplete: NamesComplete;
    pools: WatchedObjects<BrowserPool>;
    store: LeaseStore;
  },
): Promise<void> => {
  const names = await deps.namesComplete.check(project.id);
  if (names.isComplete) return;
  await refuseWhileRecovering(name, liveOwnersOf(project, deps), deps);
  await names.confirm();
};

/**
 * For a session that none of these owners has: throws `unavailable` when it may still be active, because the operator
 * is recovering one of the owners. It reads Redis once for each owner, so call it only when a session was not found.
 */
export const refuseWhileRecovering = async (
  session: string,
  owners: LeaseOwner[],
  deps: { store: LeaseStore },
): Promise<void> => {
  const mayLive = await Promise.all(
    owners.map(
      async (owner) => (await isRecovering(owner, deps)) && !(await deps.store.endedLease(owner.metadata.uid, session)),
    ),
  );
  if (mayLive.includes(true))
    throw new AppError("unavailable", "its sessions are being recovered; repeat the request", {
      retryAfterSeconds: 1,
    });
};

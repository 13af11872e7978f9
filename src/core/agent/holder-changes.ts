/** What the holder of a browser changes in it, one change after the other. The end of its lease takes everything back. */
import type { Logger } from "../../platform/base/log.ts";
import type { BrowserChange } from "../protocol/browser-change.ts";
import type { ArchiveFolder } from "./archive-folder.ts";
import type { Browser, ChangeOutcome } from "./browser.ts";
import { type HeldLease, isLeaseOf } from "./held-lease.ts";
import type { LeaseName } from "./lease-fence.ts";

export type LeaseChange = Omit<BrowserChange, "apply">;

export type HolderChanges = {
  /**
   * Whether this lease holds the browser. If it does, the browser counts as changed from now on, whatever the `reuse` of its end is: the
   * archives that arrive for it are not for the next holder either.
   */
  prepare(lease: LeaseName): boolean;
  /** Changes the browser for the lease that holds it. Its sockets are cut where a new Chromium must start. */
  change(change: LeaseChange, archives: ArchiveFolder): Promise<ChangeOutcome | "not_holder">;
  /** Whether another Chromium starts for the holder. */
  isStarting(): boolean;
};

/** Is told when a change has an outcome. `restarted`: another Chromium was started for it. */
export type ChangeFollower = { changed?(outcome: ChangeOutcome, restarted: boolean): void };

type HolderChangesDeps = {
  browser: Pick<Browser, "change">;
  /** Called when its holder begins to change it. */
  onChange: readonly (() => void)[];
  followers: readonly ChangeFollower[];
  /** The lease of the moment. */
  held(): HeldLease | undefined;
  log: Logger;
};

/** No change yet. */
export const createHolderChanges = ({ browser, onChange, followers, held, log }: HolderChangesDeps): HolderChanges => {
  let last: Promise<unknown> = Promise.resolve();
  let isStarting = false;
  const begin = (): void => {
    for (const listener of onChange) listener();
  };

  const carryOut = async (
    { request, ...wanted }: LeaseChange,
    archives: ArchiveFolder,
  ): Promise<ChangeOutcome | "not_holder"> => {
    const lease = held();
    if (!lease || !isLeaseOf(lease, wanted)) return "not_holder";
    begin();
    const goOn = lease.wait();
    try {
      const outcome = await browser.change(wanted, archives, () => {
        isStarting = true;
        lease.disconnect();
      });
      if (held() !== lease) return "not_holder";
      if (outcome === "changed" && request !== undefined) lease.rewrite(request);
      const { session_id, epoch, seq } = wanted;
      log.info({ session_id, epoch, seq, outcome }, "browser changed for its holder");
      for (const follower of followers) follower.changed?.(outcome, isStarting);
      return outcome;
    } finally {
      isStarting = false;
      goOn();
    }
  };
  return {
    prepare(lease) {
      if (!isLeaseOf(held(), lease)) return false;
      begin();
      return true;
    },
    change(change, archives) {
      const mine = last.then(() => carryOut(change, archives));
      last = mine.catch(() => undefined);
      return mine;
    },
    isStarting: () => isStarting,
  };
};

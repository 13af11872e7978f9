/**
 * What the holder of a browser changes in it, one change after the other. The end of its lease takes everything back.
 */

import type { Logger } from "../../platform/base/log.ts";
import { withoutUndefined } from "../../platform/rules/given-fields.ts";
import type { BindLease, SeenOutcome } from "../protocol/agent-api.ts";
import { type BrowserChange, changesBrowser } from "../protocol/browser-change.ts";
import type { Browser, ChangeArchives, ChangeOutcome } from "./browser.ts";
import { type HeldLease, isLeaseOf } from "./held-lease.ts";
import type { LeaseName } from "./lease-fence.ts";
import type { WantedChange } from "./start-settings.ts";

// What came of a session's first navigation, for its lease and some minutes more. Sessions that do not allow it are not
// looked at.

/** How long an outcome is told, ms: the operator asks once a minute. */
const toldMs = 600_000;

/** Watches a session until `signal` is aborted; calls `note` with what came of it. Never rejects. */
export type FollowOutcome = (
  lease: Pick<BindLease, "start_url">,
  note: (seen: Omit<SeenOutcome, "session_id"> | undefined) => void,
  signal: AbortSignal,
) => Promise<void>;

type HolderOutcome = {
  /** Begins with a lease: forgets the one before, and watches if this one allows it. */
  begin(lease: BindLease): void;
  /** The lease is over: what was seen so far stays. */
  end(): void;
  /** The browser is no longer as it was made: nothing is told of its lease. */
  forget(): void;
  outcome(): SeenOutcome | undefined;
};

/** Nothing is watched yet. */
export const createHolderOutcome = (observe: FollowOutcome | undefined): HolderOutcome => {
  let watching: AbortController | undefined;
  let seen: { outcome: SeenOutcome; sinceMs: number } | undefined;
  const end = (): void => {
    watching?.abort();
    watching = undefined;
  };
  const forget = (): void => {
    end();
    seen = undefined;
  };
  return {
    begin(lease) {
      forget();
      if (!lease.observe || !observe) return;
      const mine = new AbortController();
      watching = mine;
      const { session_id } = lease;
      const note: Parameters<FollowOutcome>[1] = (found) => {
        if (mine.signal.aborted) return;
        seen = found && { outcome: { session_id, ...found }, sinceMs: seen?.sinceMs ?? performance.now() };
      };
      void observe(lease, note, mine.signal);
    },
    end,
    forget,
    outcome: () => (seen && performance.now() - seen.sinceMs < toldMs ? seen.outcome : undefined),
  };
};

export type LeaseChange = Omit<BrowserChange, "apply"> & Pick<WantedChange, "extensions">;

export type HolderChanges = {
  /**
   * Whether this lease holds the browser. If it does, the browser counts as changed from now on, whatever the `reuse`
   * of its end is: the archives that arrive for it are not for the next holder either.
   */
  prepare(lease: LeaseName): boolean;
  /**
   * Changes the browser for the lease that holds it, or the lease alone. Its sockets are cut where a new Chromium must
   * start. `archives`: needed for the browser. Rejects as `Browser.change`.
   */
  change(change: LeaseChange, archives?: ChangeArchives): Promise<ChangeOutcome | "not_holder">;
  /** Whether another Chromium starts for the holder. */
  isStarting(): boolean;
};

/** Is told when a change has an outcome. `restarted`: another Chromium was started for it. */
export type ChangeFollower = { changed?(outcome: ChangeOutcome | "failed", restarted: boolean): void };

type HolderChangesDeps = {
  browser: Pick<Browser, "change">;
  /** Opens a URL in the browser; undefined opens nothing. */
  open(url: string | undefined): void;
  /** Called when its holder begins to change it. */
  onChange: readonly (() => void)[];
  followers: readonly ChangeFollower[];
  /** The lease of the moment. */
  held(): HeldLease | undefined;
  log: Logger;
};

/** No change yet. */
export const createHolderChanges = ({
  browser,
  open,
  onChange,
  followers,
  held,
  log,
}: HolderChangesDeps): HolderChanges => {
  let last: Promise<unknown> = Promise.resolve();
  let isStarting = false;
  const begin = (): void => {
    for (const listener of onChange) listener();
  };

  const carryOut = async (
    { request, timeout_seconds, start_url, ...wanted }: LeaseChange,
    archives: ChangeArchives | undefined,
  ): Promise<ChangeOutcome | "not_holder"> => {
    const lease = held();
    if (!lease || !isLeaseOf(lease, wanted)) return "not_holder";
    const finish = (): void => {
      lease.rewrite(withoutUndefined({ request, timeout_seconds }));
      open(start_url);
    };
    if (!archives || !(wanted.extensions || changesBrowser(wanted))) {
      finish();
      return "changed";
    }
    begin();
    const goOn = lease.wait();
    const tell = (outcome: ChangeOutcome | "failed"): void => {
      for (const follower of followers) follower.changed?.(outcome, isStarting);
    };
    try {
      const outcome = await browser.change(wanted, archives, () => {
        isStarting = true;
        lease.disconnect();
      });
      if (held() !== lease) return "not_holder";
      if (outcome === "changed") finish();
      const { session_id, epoch, seq } = wanted;
      log.info({ session_id, epoch, seq, outcome }, "browser changed for its holder");
      tell(outcome);
      return outcome;
    } catch (error) {
      tell("failed");
      throw error;
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

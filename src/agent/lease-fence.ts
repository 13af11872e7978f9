/**
 * The agent's word on who holds its browser. Redis may forget leases; this, in memory beside the browser, does not.
 *
 *            claim                grant
 *   idle ───────────► claimed ───────────► leased
 *    ▲                 │   │                 │
 *    └──── refuse ─────┘   └── end ─► ended ◄┘ end
 *
 * idle     no lease; also after a claim that the browser's health did not allow.
 * claimed  a bind came with a fence above all before; nobody holds the browser until its health is confirmed.
 * leased   `holder()` may use the browser.
 * ended    the lease was ended by its own fence and session; the same end is answered the same way again.
 *
 * Raising the epoch makes a claim of a lower one idle again, and leaves every other state: who asks under the new epoch
 * knows of a lease that is held, and no bind from before can come between the answer and what is made of it.
 *
 * A claim is taken in every state when its fence is above the highest seen, and puts an end to what was before it. So
 * does an end: its lease was given up before the bind arrived, and a bind that is still on its way must come too late.
 * Claiming, granting and ending are separate steps because a bind waits for the browser in between: a newer claim or an
 * end that comes during that wait wins, and the grant of the older one fails.
 */
import { compareFences, type Fence } from "../protocol/agent-api.ts";

/** A lease as its fence and session name it. */
export type LeaseName = Fence & { session_id: string };

type State = { name: "idle" } | { name: "claimed" | "leased" | "ended"; lease: LeaseName };

export type LeaseFence = {
  /**
   * `claimed`: taken, its fence is the highest now, any earlier lease is over. `repeated`: this very lease is claimed
   * or held already. `stale`: not above the highest fence.
   */
  claim(lease: LeaseName): "claimed" | "repeated" | "stale";
  /** The browser is healthy: the claim becomes the lease. False when it has been overtaken or ended. */
  grant(lease: LeaseName): boolean;
  /** The browser is not healthy: the claim is dropped, its fence stays used up. */
  refuse(lease: LeaseName): void;
  /**
   * `ended`: it held or claimed the browser until now, or its claim never came here; that one is refused from now on.
   * `repeated`: it was ended before and nothing came after it.
   */
  end(lease: LeaseName): "ended" | "repeated" | "not_holder";
  /** From now on only fences of this epoch or a later one are taken. A claim in progress of a lower one is dropped. */
  raise(epoch: number): void;
  holder(): LeaseName | undefined;
  /** The lease whose bind waits for the browser. */
  claimant(): LeaseName | undefined;
  /** The highest fence seen; `{epoch: 0, seq: 0}` before the first. Its epoch may be one that no lease had yet. */
  highest(): Fence;
};

const same = (a: LeaseName, b: LeaseName): boolean => a.session_id === b.session_id && compareFences(a, b) === 0;

/** A fence that has seen no lease: it takes any fence above `{epoch: 0, seq: 0}`. It keeps no time and does no I/O. */
export const createLeaseFence = (): LeaseFence => {
  let highest: Fence = { epoch: 0, seq: 0 };
  let state: State = { name: "idle" };
  const is = (name: "claimed" | "leased" | "ended", lease: LeaseName): boolean =>
    state.name === name && same(state.lease, lease);
  return {
    claim(lease) {
      if (is("claimed", lease) || is("leased", lease)) return "repeated";
      if (compareFences(lease, highest) <= 0) return "stale";
      highest = { epoch: lease.epoch, seq: lease.seq };
      state = { name: "claimed", lease };
      return "claimed";
    },
    grant(lease) {
      if (!is("claimed", lease)) return false;
      state = { name: "leased", lease };
      return true;
    },
    refuse(lease) {
      if (is("claimed", lease)) state = { name: "idle" };
    },
    end(lease) {
      if (is("ended", lease)) return "repeated";
      const isUnheard = compareFences(lease, highest) > 0;
      if (!isUnheard && !is("claimed", lease) && !is("leased", lease)) return "not_holder";
      if (isUnheard) highest = { epoch: lease.epoch, seq: lease.seq };
      state = { name: "ended", lease };
      return "ended";
    },
    raise(epoch) {
      if (epoch <= highest.epoch) return;
      highest = { epoch, seq: highest.seq };
      if (state.name === "claimed") state = { name: "idle" };
    },
    claimant: () => (state.name === "claimed" ? state.lease : undefined),
    holder: () => (state.name === "leased" ? state.lease : undefined),
    highest: () => highest,
  };
};

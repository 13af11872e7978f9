/**
 * The agent's own state of its lease, in memory beside the browser. Redis may lose leases; the agent does not.
 *
 *            claim                grant
 *   idle ───────────► claimed ───────────► leased
 *    ▲                 │   │                 │
 *    └──── refuse ─────┘   └── end ─► ended ◄┘ end
 *
 * idle     no lease, also after a claim whose health check failed.
 * claimed  a bind with the highest fence so far has arrived; no session holds the browser until the health check succeeds.
 * leased   `holder()` may use the browser.
 * ended    an end with the lease's fence and session has arrived; a repetition of it gets the same answer.
 *
 * Raising the epoch drops a claim of a lower epoch and keeps every other state. The operator that asks under the new
 * epoch learns of a lease that is held, and no older bind can change that between the agent's answer and the operator's
 * repair.
 *
 * In every state, a claim whose fence is above the highest seen is accepted and replaces what was before it. Above
 * means: its seq is higher, and its epoch not lower. A new epoch alone is not enough: a Redis that lost the grant of a
 * lease which is held grants its seq again, before the operator has asked this agent. An end with such a fence is
 * accepted as well: its caller gave the lease up before the bind arrived, so that bind must be refused. Claiming,
 * granting and ending are separate steps because a bind waits for the browser in between: a newer claim or an end that
 * comes during that wait wins, and the grant of the older claim fails.
 */
import { compareFences, type Fence } from "../protocol/agent-api.ts";

/**
 * The reason with which the work for a lease is aborted. One for all: `abort()` without a reason makes an error with a
 * stack each time, 60 us, and a caller waits for the end of its lease.
 */
export const leaseIsOver = new Error("the lease is over");

/** The identity of a lease: its fence and session. */
export type LeaseName = Fence & { session_id: string };

type State = { name: "idle" } | { name: "claimed" | "leased" | "ended"; lease: LeaseName };

export type LeaseFence = {
  /**
   * `claimed`: accepted; its fence is the highest now and any earlier lease is over. `repeated`: this same lease is
   * claimed or held already. `stale`: its fence is not above the highest in both parts.
   */
  claim(lease: LeaseName): "claimed" | "repeated" | "stale";
  /** The browser is healthy: the claim becomes the lease. False when a newer claim or an end has come since. */
  grant(lease: LeaseName): boolean;
  /** The browser is not healthy: drops the claim. Its fence stays used up. */
  refuse(lease: LeaseName): void;
  /**
   * `ended`: it held or claimed the browser until now, or its claim has not arrived and will be refused. `repeated`: it
   * ended earlier, and nothing came after it. `not_holder`: anything else, such as the end of an older lease.
   */
  end(lease: LeaseName): "ended" | "repeated" | "not_holder";
  /** From now on only fences of this epoch or a later one are accepted. Drops a claim of a lower epoch. */
  raise(epoch: number): void;
  holder(): LeaseName | undefined;
  /** The lease whose bind waits for the browser. */
  claimant(): LeaseName | undefined;
  /** The highest fence seen; `{epoch: 0, seq: 0}` before the first. `raise` may set an epoch that no lease has had. */
  highest(): Fence;
};

const same = (a: LeaseName, b: LeaseName): boolean => a.session_id === b.session_id && compareFences(a, b) === 0;

const isAbove = (fence: Fence, highest: Fence): boolean => fence.epoch >= highest.epoch && fence.seq > highest.seq;

/** A fence that has seen no lease: it takes any fence above `{epoch: 0, seq: 0}`. It keeps no time and does no I/O. */
export const createLeaseFence = (): LeaseFence => {
  let highest: Fence = { epoch: 0, seq: 0 };
  let state: State = { name: "idle" };
  const is = (name: "claimed" | "leased" | "ended", lease: LeaseName): boolean =>
    state.name === name && same(state.lease, lease);
  return {
    claim(lease) {
      if (is("claimed", lease) || is("leased", lease)) return "repeated";
      if (!isAbove(lease, highest)) return "stale";
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
      const isNewest = isAbove(lease, highest);
      if (!isNewest && !is("claimed", lease) && !is("leased", lease)) return "not_holder";
      if (isNewest) highest = { epoch: lease.epoch, seq: lease.seq };
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

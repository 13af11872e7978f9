import type { LeaseKeeper } from "../../../src/core/agent/lease-keeper.ts";
import { type AgentState, compareFences } from "../../../src/core/protocol/agent-api.ts";
import type { Said } from "./agent-event.ts";

/**
 * The keeper as it is, telling what it does. What changes at once is told before anything else can happen in the
 * process.
 */
export const observedLeases = (keeper: LeaseKeeper, say: (said: Said) => void): LeaseKeeper => {
  let toldBound: AgentState["lease"] = null;

  /** Does something and tells of the lease that is over by it. */
  const watching = <T>(act: () => T): T => {
    const { lease } = keeper.state();
    const result = act();
    const now = keeper.state().lease;
    if (lease && (!now || compareFences(lease, now) !== 0)) say({ what: "ended", ...nameOf(lease) });
    return result;
  };
  return {
    ...keeper,
    async bind(request, times) {
      const outcome = await watching(() => keeper.bind(request, times));
      const { lease } = keeper.state();
      if (outcome !== "bound") say({ what: "refused", ...nameOf(request), code: outcome });
      else if (lease && (!toldBound || compareFences(lease, toldBound) !== 0)) {
        toldBound = lease;
        say({ what: "bound", ...nameOf(lease) });
      }
      return outcome;
    },
    async end(request) {
      const before = keeper.state();
      const ended = watching(() => keeper.end(request));
      const isUnheard = compareFences(keeper.state().fence, before.fence) > 0;
      if (isUnheard) say({ what: "ended", ...nameOf(request) });
      const outcome = await ended;
      if (outcome !== "ended") say({ what: "refused", ...nameOf(request), code: outcome });
      return outcome;
    },
    stateUnder(epoch) {
      const { fence } = keeper.state();
      const state = keeper.stateUnder(epoch);
      if (state.fence.epoch > fence.epoch) say({ what: "raised", epoch: state.fence.epoch });
      return state;
    },
    admit(sessionId, socket) {
      const admitted = keeper.admit(sessionId, socket);
      if (admitted !== "admitted") say({ what: "refused", session: sessionId, code: admitted });
      return admitted;
    },
  };
};

const nameOf = ({ session_id, epoch, seq }: { session_id: string; epoch: number; seq: number }) => ({
  session: session_id,
  epoch,
  seq,
});

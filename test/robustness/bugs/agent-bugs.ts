/** Mistakes in the agent, and in what is concluded from its word. */
import type { SeededBug } from "./seeded-bug.ts";

export const agentBugs: readonly SeededBug[] = [
  {
    name: "agent-without-fence",
    breaks: "the agent takes any lease that comes: a lease that Redis gives again after a loss robs the holder",
    foundBy: ["exclusive-use", "rising-fences"],
    faults: ["redis-failover", "redis-power-loss", "redis-flushall"],
    patches: [
      {
        file: "core/agent/lease-fence.ts",
        find: 'if (!isAbove(lease, highest)) return "stale";',
        replace: "",
      },
    ],
  },
  {
    name: "epoch-not-raised",
    breaks: "an agent that was asked under a new epoch still takes a bind from before the loss",
    foundBy: ["epochs-bind", "exclusive-use"],
    // The grant of a replica that stands still is bound when all the rest has recovered, and found free if few callers
    // come.
    faults: ["redis-flushall", "event-loop-stall"],
    plan: { clients: [4, 6], together: 2 },
    patches: [
      {
        file: "core/agent/lease-fence.ts",
        find: "if (epoch <= highest.epoch) return;",
        replace: "if (epoch > 0) return;",
      },
    ],
  },
  {
    name: "sockets-outlive-the-lease",
    breaks: "the connections of an ended lease stay open: its client works in the next one's browser",
    foundBy: ["commands-by-holder"],
    faults: [],
    patches: [
      {
        file: "core/agent/held-lease.ts",
        find: "for (const socket of sockets) socket.destroy();",
        replace: "",
      },
    ],
  },
  {
    name: "handed-on-as-it-is",
    breaks: "an agent does not make its browser anew after a lease: the next holder meets the pages of the last one",
    foundBy: ["clean-hand-over"],
    faults: [],
    patches: [
      {
        file: "core/agent/clean-browser.ts",
        find: 'if (state === "used") work(makeAnew);',
        replace: "if (working) work(makeAnew);",
      },
    ],
  },
  {
    name: "restore-forgets-holders",
    breaks: "a browser that Redis has forgotten comes back as idle, though its agent says who holds it",
    foundBy: ["exclusive-use"],
    faults: ["redis-flushall"],
    patches: [
      {
        file: "core/leases/diagnose.ts",
        find: "return agentState.lease ? diagnoseHeld(facts, agentState.lease, agentState.fence) : diagnoseFree(facts, agentState);",
        replace:
          "return agentState.lease && record ? diagnoseHeld(facts, agentState.lease, agentState.fence) : diagnoseFree(facts, agentState);",
      },
    ],
  },
  {
    name: "no-sweep",
    breaks: "steps that died half-way are not looked at: their browsers stay leased or releasing for ever",
    foundBy: ["nothing-lost", "comes-to-rest"],
    faults: ["api-kill", "redis-kill"],
    patches: [
      {
        file: "core/pools/plan/next-inspection.ts",
        find: "if (!isInspectable(pod, nowMs)) return undefined;",
        replace:
          'if (!isInspectable(pod, nowMs) || pod.browser?.state === "leased" || pod.browser?.state === "releasing") return undefined;',
      },
    ],
  },
];

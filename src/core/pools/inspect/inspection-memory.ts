import type { InspectResult } from "../../leases/inspect.ts";
import type { LastInspection } from "../observe/observed.ts";

/** What this replica's inspections have found, for the rounds that plan the next ones. */
export type InspectionMemory = {
  /** Its times are by `monotonicMs`. */
  lastInspection(podUid: string): LastInspection | undefined;
  isFailing(podUid: string): boolean;
  /** The epoch under which the browser's agent was asked last, whatever it said; 0 for none. Agents of a silent node count as asked. */
  askedUnder(podUid: string): number;
  /** The highest epoch that an inspection found in an agent of this pool; 0 for none. */
  agentEpoch(poolUid: string): number;
  noteAsked(podUid: string, epoch: number): void;
  noteResult(of: { podUid: string; poolUid: string; epoch: number }, result: InspectResult): void;
  /** Drops all data of a pod or pool that is gone. */
  forget(uid: string): void;
};

/** Nothing was inspected yet. `monotonicMs`: ms of a clock that is never set. */
export const createInspectionMemory = (monotonicMs: () => number): InspectionMemory => {
  const last = new Map<string, LastInspection>();
  const asked = new Map<string, number>();
  const agentEpochs = new Map<string, number>();
  return {
    lastInspection: (podUid) => last.get(podUid),
    isFailing: (podUid) => (last.get(podUid)?.failures ?? 0) > 0,
    askedUnder: (podUid) => asked.get(podUid) ?? 0,
    agentEpoch: (poolUid) => agentEpochs.get(poolUid) ?? 0,
    noteAsked: (podUid, epoch) => void asked.set(podUid, epoch),
    noteResult({ podUid, poolUid, epoch }, result) {
      const before = last.get(podUid);
      const atMs = monotonicMs();
      if (result.is === "ahead") agentEpochs.set(poolUid, Math.max(result.epoch, agentEpochs.get(poolUid) ?? 0));
      if (result.is === "done") last.set(podUid, { atMs, epoch, failures: 0, failingSinceMs: 0 });
      if (result.is !== "silent") return;
      const failures = (before?.failures ?? 0) + 1;
      const failingSinceMs = failures > 1 ? (before?.failingSinceMs ?? atMs) : atMs;
      last.set(podUid, { atMs, epoch, failures, failingSinceMs });
    },
    forget(uid) {
      last.delete(uid);
      asked.delete(uid);
      agentEpochs.delete(uid);
    },
  };
};

import type { SourcePatch } from "./source-patch.ts";

/**
 * The lead of the operators lasts a third as long as it does: the same protocol, and more of it in a minute of a run.
 */
export const quickLeadPatches: SourcePatch[] = [
  {
    file: "platform/kube/leader-election.ts",
    find: "{ durationMs: 15_000, renewDeadlineMs: 10_000, renewMs: 2000 }",
    replace: "{ durationMs: 5000, renewDeadlineMs: 3500, renewMs: 700 }",
  },
];

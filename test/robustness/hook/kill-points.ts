/**
 * Named points of the operator's round at which a run can have the process killed: on both sides of every write that another
 * write of the same round relies on.
 */
import type { SourcePatch } from "./source-patch.ts";

export const killPoints = [
  "before-first-action",
  "before-status",
  "after-status",
  "before-create",
  "after-create",
  "before-spend",
  "after-spend",
  "before-delete",
  "after-delete",
  "before-epoch",
  "after-epoch",
] as const;
export type KillPoint = (typeof killPoints)[number];

let chosen: KillPoint | undefined;

/** The process kills itself when it comes to this point; undefined: at none. */
export const killAt = (point: KillPoint | undefined): void => {
  chosen = point;
};

/** Called by patched sources. */
export const passPoint = (point: KillPoint): void => {
  if (point === chosen) process.kill(process.pid, "SIGKILL");
};

const pass = (point: KillPoint): string => `(globalThis as any).browserpoolTestHook.point("${point}");`;

const apply = "controllers/browser-pool/apply.ts";

/** Puts `before` and `after` around the one statement `find` of the round. */
const around = (find: string, before: KillPoint | undefined, after: KillPoint | undefined): SourcePatch => ({
  file: apply,
  find,
  replace: [before && pass(before), find, after && pass(after)].filter(Boolean).join("\n"),
});

export const killPointPatches: SourcePatch[] = [
  around(
    "const isLast = ({ do: kind }: PoolAction): boolean => last.includes(kind);",
    "before-first-action",
    undefined,
  ),
  around("if (!drops) await writeStatus(seen, plan.status, deps);", "before-status", "after-status"),
  around("deps.pods.put(await deps.kube.create(podType, pod));", "before-create", "after-create"),
  around("const allowed = paced ? count : await deps.store.spendUnpaced(uid, count);", "before-spend", "after-spend"),
  around("await deps.kube.delete(podType, pod.pod.metadata, { uid: pod.uid });", "before-delete", "after-delete"),
  around("await deps.repairs.establish(uid, action.epoch);", "before-epoch", "after-epoch"),
];

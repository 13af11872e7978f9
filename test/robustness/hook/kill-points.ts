/**
 * Named points at which a run can have a process halted, killed or frozen: in the operator's round on both sides of
 * every write that another write of the same round relies on, in an api between a grant and its bind.
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

/** The one of an api. */
export const bindPoint = "before-bind";

export const haltPoints = [...killPoints, bindPoint] as const;
type HaltPoint = (typeof haltPoints)[number];

/**
 * The points after which the round asks whether it still leads. Only there a process is frozen: between the question
 * and the write that follows there is a moment that no replica can close, and a run that aimed at it would find nothing
 * new. With how often each is chosen: the pod that is made after `after-spend` would be one too many, and nothing else
 * stops it.
 */
export const freezePoints = {
  "before-first-action": 1,
  "before-status": 1,
  "after-status": 1,
  "after-spend": 3,
} as const satisfies Partial<Record<KillPoint, number>>;
export type FreezePoint = keyof typeof freezePoints | typeof bindPoint;

/** What the process does to itself when it comes to a point, once. */
type Halt = { point: HaltPoint; signal: "SIGKILL" | "SIGSTOP" };

let chosen: Halt | undefined;

/** Undefined: it halts nowhere. */
export const haltAt = (halt: Halt | undefined): void => {
  chosen = halt;
};

/** Called by patched sources. */
export const passPoint = (point: HaltPoint): void => {
  if (point !== chosen?.point) return;
  const { signal } = chosen;
  chosen = undefined;
  process.kill(process.pid, signal);
};

const pass = (point: HaltPoint): string => `(globalThis as any).browserpoolTestHook.point("${point}");`;

const apply = "core/pools/apply/apply.ts";
const acquire = "core/leases/acquire-lease.ts";

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
  around("if (!drops) await writeStatus(observed, plan.status, deps);", "before-status", "after-status"),
  around("const made = await deps.kube.create(podType, pod);", "before-create", "after-create"),
  around("const allowed = paced ? count : await deps.store.spendUnpaced(uid, count);", "before-spend", "after-spend"),
  around(
    "await deps.kube.delete(podType, pod.pod.metadata, { uid: pod.uid, gracePeriodSeconds: graceOf(pod) });",
    "before-delete",
    "after-delete",
  ),
  around("await deps.repairs.establish(uid, action.epoch);", "before-epoch", "after-epoch"),
  {
    file: acquire,
    find: "const refusal = ",
    replace: `${pass(bindPoint)} const refusal = `,
  },
];

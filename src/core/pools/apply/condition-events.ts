import type { Condition } from "../../../platform/kinds/conditions.ts";
import type { StatusChange } from "../pool-source.ts";

export type ConditionNote = { type: "Normal" | "Warning"; reason: string; note: string };

const find = (conditions: Condition[], type: string): Condition | undefined =>
  conditions.find((condition) => condition.type === type);

/**
 * The Events for a changed status of a pool; pure. They tell users that its configuration is refused or in force again,
 * that it is filled, that its browsers find no node, what its deletion waits for, and what became of a browser's
 * profile. Changes of counts cause no Event.
 */
export const conditionNotes = ({ before, after }: StatusChange): ConditionNote[] => {
  const [wasAccepted, accepted] = [find(before, "Accepted"), find(after, "Accepted")];
  const [wasReady, ready] = [find(before, "Ready"), find(after, "Ready")];
  const [wasProgressing, progressing] = [find(before, "Progressing"), find(after, "Progressing")];
  const [wasSaved, saved] = [find(before, "ProfileSaved"), find(after, "ProfileSaved")];
  const notes: ConditionNote[] = [];
  if (accepted?.status === "False" && accepted.message !== wasAccepted?.message)
    notes.push({ type: "Warning", reason: accepted.reason, note: accepted.message });
  if (accepted?.status === "True" && wasAccepted?.status === "False")
    notes.push({ type: "Normal", reason: accepted.reason, note: accepted.message });
  if (ready?.status === "True" && wasReady?.status !== "True")
    notes.push({ type: "Normal", reason: ready.reason, note: ready.message });
  if (progressing?.reason === "Unschedulable" && wasProgressing?.reason !== "Unschedulable")
    notes.push({ type: "Warning", reason: progressing.reason, note: progressing.message });
  if (progressing?.reason === "Draining" && wasProgressing?.reason !== "Draining")
    notes.push({ type: "Normal", reason: progressing.reason, note: progressing.message });
  if (saved?.reason === "NotSaved" && wasSaved?.reason !== "NotSaved")
    notes.push({ type: "Warning", reason: "ProfileNotSaved", note: saved.message });
  if (saved?.status === "True" && wasSaved?.status !== "True")
    notes.push({ type: "Normal", reason: "ProfileSaved", note: saved.message });
  return notes;
};

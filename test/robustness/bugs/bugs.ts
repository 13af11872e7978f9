import type { SourcePatch } from "../hook/source-patch.ts";
import { agentBugs } from "./agent-bugs.ts";
import { leaseBugs } from "./lease-bugs.ts";
import { operatorBugs } from "./operator-bugs.ts";
import type { SeededBug } from "./seeded-bug.ts";

export const allBugs: readonly SeededBug[] = [...leaseBugs, ...agentBugs, ...operatorBugs];

/** The patches of a seeded bug; none without a name. Throws for a name that is not known. */
export const bugPatches = (name: string | undefined): readonly SourcePatch[] => {
  if (name === undefined) return [];
  const bug = allBugs.find((one) => one.name === name);
  if (!bug) throw new Error(`there is no seeded bug ${name}`);
  return bug.patches;
};

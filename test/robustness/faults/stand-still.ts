import { bindPoint } from "../hook/kill-points.ts";
import type { Replica } from "../topology/replica.ts";
import type { FaultContext } from "./fault.ts";
import { wake } from "./wake.ts";

/**
 * Time for the replica to come to the moment in which it is to stand still, ms; after it it stands still where it is.
 */
const toPointMs = 100;

/** Stops a replica for the length of the fault. `atBind`: an api, between a grant and its bind if it comes there. */
export const standStill = async (
  replica: Replica,
  { atBind }: { atBind: boolean },
  { hold, pause, begin, over }: FaultContext,
): Promise<void> => {
  begin({ replica: replica.name });
  if (atBind) {
    replica.hook().freezeAt(bindPoint);
    await pause(toPointMs);
  }
  replica.program().freeze();
  await hold();
  over();
  await wake(replica);
};

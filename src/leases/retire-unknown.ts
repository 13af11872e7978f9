import type { InspectTarget } from "./inspect.ts";
import type { RepairStore } from "./repair-store.ts";

/**
 * Gives up a browser of which Redis knows nothing: from then on no look lets it in, not even one that is under way. False
 * when Redis knows it by now, or the epoch is another one; then nothing is changed. Throws `unavailable`.
 */
export const retireUnknown = (
  { poolUid, epoch, browser: { id, pod, address, configHash } }: InspectTarget,
  repairs: Pick<RepairStore, "repair">,
): Promise<boolean> => {
  const record = { id, pod, address, config: configHash, seq: 0, state: "retired", reason: "unreachable" } as const;
  return repairs.repair(poolUid, { epoch, text: "" }, { record, former: "kept" });
};

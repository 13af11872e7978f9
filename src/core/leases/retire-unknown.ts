import type { InspectTarget } from "./inspect.ts";
import type { RepairStore } from "./repair-store.ts";

/**
 * Retires a browser that has no record in Redis, so that no inspection registers it, not even one that is under way. Returns
 * false and changes nothing when the browser has a record by now, or the epoch is another one. Throws `unavailable`.
 */
export const retireUnknown = (
  { poolUid, epoch, browser: { id, pod, address, configHash } }: InspectTarget,
  repairs: Pick<RepairStore, "repair">,
): Promise<boolean> => {
  const record = { id, pod, address, config: configHash, seq: 0, state: "retired", reason: "unreachable" } as const;
  return repairs.repair(poolUid, { epoch, text: "" }, { record, former: "kept" });
};

/** Which records belong to browsers that are lost: their pod is gone or has ended; pure. */
import type { BrowserRecord, EndReason } from "../../leases/records.ts";
import type { EndedReason, ObservedPod } from "../observe/observed.ts";

const endReason: Record<EndedReason, EndReason> = {
  timeout: "timeout",
  max_lifetime: "max_lifetime",
  reset_failed: "browser_crashed",
  browser_crashed: "browser_crashed",
  start_failed: "browser_crashed",
  setup_refused: "browser_crashed",
  stopped: "pod_deleted",
  lost: "browser_lost",
};

/** Why to close the record of a browser that is lost; undefined when its pod is there. */
export const lossReason = (
  browser: Pick<BrowserRecord, "leaving">,
  pod: Pick<ObservedPod, "state" | "pod"> | undefined,
): EndReason | undefined => {
  // An evicted pod is gone because of the eviction, even if the watch did not show its end.
  if (!pod) return browser.leaving === "Evicted" ? "pod_deleted" : "browser_lost";
  const { state } = pod;
  if (state.is !== "ended") return undefined;
  return state.reason === "lost" && pod.pod.metadata.deletionTimestamp ? "pod_deleted" : endReason[state.reason];
};

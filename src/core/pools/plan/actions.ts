/** The actions of the pool loop: plan.ts decides on them, apply.ts carries them out. */
import type { EndReason } from "../../leases/records.ts";
import type { BrowserPoolStatus } from "../../model/pools/browser-pool.ts";
import type { ObservedPod } from "../observe/observed.ts";
import type { InspectionLane, InspectionReason } from "./next-inspection.ts";

/** Why a browser leaves (leaving.ts); its record keeps the reason as the leaving mark. */
export type LeavingReason = "Evicted" | "NodeLeaving" | "PodOutdated";

export type DeleteReason =
  | "Ended"
  | "FailedStart"
  | "StartDeadlineExceeded"
  | "Outdated"
  | "Retired"
  | "Unreachable"
  | "Surplus"
  | "NodeLeaving"
  | "NodeLost"
  | "PoolDeleted";

type RetireReason = "Surplus" | "PoolDeleted" | "Unready" | "PodOutdated" | "ProfileUpdated";

export type PoolAction =
  | { do: "raise"; epoch: number }
  | { do: "recovered"; epoch: number }
  | {
      do: "inspect";
      pod: ObservedPod;
      epoch: number;
      /** Why the browser must not become idle. */
      leaving: LeavingReason | undefined;
      afterMs: number;
      why: InspectionReason;
      lane: InspectionLane;
    }
  | { do: "close"; browser: string; why: EndReason }
  | { do: "retire"; ids: string[]; count: number; why: RetireReason }
  | { do: "leave"; ids: string[]; why: LeavingReason }
  | { do: "stay"; ids: string[]; why: LeavingReason }
  | { do: "discard"; token: string }
  | { do: "discardKept" }
  | { do: "mark"; pod: ObservedPod }
  | { do: "unmark"; pod: ObservedPod }
  | { do: "resize"; pod: ObservedPod; cpu: string }
  | { do: "delete"; pod: ObservedPod; why: DeleteReason }
  | { do: "deliver"; pod: ObservedPod }
  | { do: "use"; profile: { uid: string; name: string } }
  | { do: "create"; count: number; paced: boolean }
  | { do: "forfeit"; count: number }
  | { do: "drain" }
  | { do: "undrain" }
  | { do: "drop" }
  | { do: "note"; type: "Normal" | "Warning"; reason: string; note: string };

export type Deletion = PoolAction & { do: "delete" };

export type PoolPlan = { actions: PoolAction[]; status: BrowserPoolStatus; requeueAfterMs: number };

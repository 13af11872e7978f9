import type { TelemetryDestinationAnswer } from "../../../telemetry/destinations/telemetry-destination.ts";
import { State } from "./state.tsx";

type Counted = Pick<TelemetryDestinationAnswer, "consecutive_failures" | "last_export_at">;

/** What came of the last export. */
export const DestinationState = ({ of: { consecutive_failures: failures, last_export_at } }: { of: Counted }) => {
  if (failures > 0)
    return (
      <State tone="bad">{failures === 1 ? "The last export failed" : `The last ${failures} exports failed`}</State>
    );
  return last_export_at === undefined ? <State tone="quiet">Nothing sent yet</State> : <State tone="good">Works</State>;
};

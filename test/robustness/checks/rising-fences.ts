import { compareFences, type Fence } from "../../../src/core/protocol/agent-api.ts";
import type { EventOf } from "../history/history.ts";
import { agentLogs } from "./agent-log.ts";
import type { Check, Violation } from "./check.ts";

type Seen = { fence: Fence; event: EventOf<"agent"> };

/** Raising the epoch leaves the sequence as it is. */
const fenceOf = ({ epoch, seq }: EventOf<"agent">, highest: Seen | undefined): Fence | undefined =>
  epoch === undefined ? undefined : { epoch, seq: seq ?? highest?.fence.seq ?? 0 };

/** A repeated bind or end of the very same lease is answered again, and is not another one. */
const isAllowed = (event: EventOf<"agent">, fence: Fence, highest: Seen | undefined): boolean =>
  !highest ||
  compareFences(fence, highest.fence) > 0 ||
  (compareFences(fence, highest.fence) === 0 && event.session === highest.event.session);

const find = (log: EventOf<"agent">[]): Violation[] => {
  const violations: Violation[] = [];
  let highest: Seen | undefined;
  for (const event of log) {
    const fence = event.what === "refused" ? undefined : fenceOf(event, highest);
    if (!fence) continue;
    if (event.what === "bound" && highest && !isAllowed(event, fence, highest))
      violations.push({
        what: `${event.pod} took a lease with the fence ${fence.epoch}.${fence.seq} after it had seen ${highest.fence.epoch}.${highest.fence.seq}`,
        events: [highest.event, event],
      });
    if (!highest || compareFences(fence, highest.fence) > 0) highest = { fence, event };
  }
  return violations;
};

export const risingFences: Check = {
  name: "rising-fences",
  kind: "safety",
  promise: "an agent takes a lease only when its fence is above every fence that it has seen",
  find: (events) => agentLogs(events).flatMap(find),
};

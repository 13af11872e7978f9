/**
 * What the holder of a browser may read of its logs: a ring of Chromium's lines and one of the agent's, for one lease each.
 *
 *              begin: the agent's ring is new                     end: both are closed, and new ones take their place
 *   no lease ──────────────────────────────────────► lease ────────────────────────────────────────────────────────► no lease
 *      │       Chromium's is new too, unless no lease  │
 *      │       ever had this Chromium                  └─ another Chromium for the same holder: the ring goes on
 *      └─ a new Chromium: its ring is new
 *
 * A killed Chromium's last words may still be in its pipe. They are dropped: only the present one's lines count. Nothing of this is written
 * to a disk.
 */

import type { BindLease } from "../../protocol/agent-api.ts";
import type { LogSource } from "../../protocol/agent-logs.ts";
import { agentLineOf } from "./agent-line.ts";
import type { LogRing } from "./log-ring.ts";
import { createLogRing } from "./log-ring.ts";

export type LeaseLogs = {
  /** A Chromium starts, and the former one is no more. Returns what takes its lines. */
  startChromium(): (line: string) => void;
  /** A line of JSON that the agent's logger has written. */
  noteAgent(json: string): void;
  /** A lease begins. */
  begin(lease: Pick<BindLease, "session_id">): void;
  /** It is over: who follows its logs gets what is kept, and no more. */
  end(): void;
  /** The ring of the present lease. */
  ring(source: LogSource): Pick<LogRing, "read">;
};

/** Empty logs, without a lease. */
export const createLeaseLogs = (): LeaseLogs => {
  const rings = { chromium: createLogRing(), agent: createLogRing() };
  let session: string | undefined;
  let present: symbol | undefined;
  /** Whether a lease had the present Chromium. */
  let hasServed = false;
  /** Lines of the agent that are read in the next turn of the event loop: who acquires waits for the line that says so. */
  let unread: string[] = [];
  const readLines = (): void => {
    for (const json of unread) {
      const line = session === undefined ? undefined : agentLineOf(json, session);
      if (line) rings.agent.push(line.message, line.timestamp);
    }
    unread = [];
  };
  const renew = (source: LogSource): void => {
    rings[source].close();
    rings[source] = createLogRing();
  };
  return {
    startChromium() {
      const mine = Symbol("Chromium");
      present = mine;
      hasServed = session !== undefined;
      if (session === undefined) renew("chromium");
      return (line) => {
        if (present === mine) rings.chromium.push(line);
      };
    },
    noteAgent(json) {
      if (session === undefined) return;
      if (unread.length === 0) setImmediate(readLines);
      unread.push(json);
    },
    begin({ session_id }) {
      readLines();
      if (hasServed) renew("chromium");
      renew("agent");
      hasServed = true;
      session = session_id;
    },
    end() {
      if (session === undefined) return;
      readLines();
      session = undefined;
      renew("chromium");
      renew("agent");
    },
    ring: (source) => rings[source],
  };
};

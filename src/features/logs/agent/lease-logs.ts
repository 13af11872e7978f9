/**
 * What the holder of a browser may read of its logs: a ring of Chromium's lines and one of the agent's, for one lease
 * each.
 *
 *              begin: the agent's ring is new                     end: both are closed, and new ones take their place
 *   no lease ──────────────────────────────────────► lease ────────────────────────────────────────────────────────► no lease
 *      │       Chromium's is new too, unless no lease  │
 *      │       ever had this Chromium                  └─ another Chromium for the same holder: the ring goes on
 *      └─ a new Chromium: its ring is new
 *
 * A killed Chromium's last words may still be in its pipe. They are dropped: only the present one's lines count.
 * Nothing of this is written to a disk.
 */
import { z } from "zod";
import type { BindLease } from "../../../core/protocol/agent-api.ts";
import type { LogLine, LogSource } from "./api.ts";
import { createLogRing, type LogRing } from "./log-ring.ts";

/**
 * What a holder sees of a line: these fields, and no others. Errors name files and addresses that are none of its
 * business.
 */
const AgentLine = z.object({
  level: z.string(),
  time: z.iso.datetime(),
  msg: z.string(),
  session_id: z.string().optional().catch(undefined),
  outcome: z.string().optional().catch(undefined),
  reason: z.string().optional().catch(undefined),
  why: z.string().optional().catch(undefined),
  ms: z.number().optional().catch(undefined),
  seconds: z.number().optional().catch(undefined),
});

/**
 * What the holder of this session sees of a line of the agent's log; undefined for a line of another one's, or none.
 */
export const agentLineOf = (json: string, session: string): LogLine | undefined => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  const line = AgentLine.safeParse(parsed).data;
  if (!line || (line.session_id ?? session) !== session) return undefined;
  const { level, time: timestamp, msg, session_id: _session, ...facts } = line;
  const said = Object.entries(facts).map(([name, value]) => ` ${name}=${value}`);
  return { message: `${level} ${msg}${said.join("")}`, timestamp };
};

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

/** Longest line of JSON that is kept, characters: a cut one could not be read. */
const maxAgentChars = 32 * 1024;

/** Empty logs, without a lease. */
export const createLeaseLogs = (): LeaseLogs => {
  let chromium = createLogRing();
  let agent = createLogRing();
  let hasLease = false;
  let present: symbol | undefined;
  /** Whether a lease had the present Chromium. */
  let hasServed = false;
  const renewChromium = (): void => {
    chromium.close();
    chromium = createLogRing();
  };
  const agentLogOf = (session: string): LogRing =>
    createLogRing({ lineOf: (json) => agentLineOf(json, session), maxChars: maxAgentChars });
  return {
    startChromium() {
      const mine = Symbol("Chromium");
      present = mine;
      hasServed = hasLease;
      if (!hasLease) renewChromium();
      return (line) => {
        if (present === mine) chromium.push(line);
      };
    },
    noteAgent(json) {
      if (hasLease) agent.push(json);
    },
    begin({ session_id }) {
      if (hasServed) renewChromium();
      agent.close();
      agent = agentLogOf(session_id);
      hasServed = true;
      hasLease = true;
    },
    end() {
      if (!hasLease) return;
      hasLease = false;
      renewChromium();
      agent.close();
    },
    ring: (source) => (source === "agent" ? agent : chromium),
  };
};

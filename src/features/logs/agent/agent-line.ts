import { z } from "zod";
import type { LogLine } from "./api.ts";

/** What a holder sees of a line: these fields, and no others. Errors name files and addresses that are none of its business. */
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

/** What the holder of this session sees of a line of the agent's log; undefined for a line of another one's, or none. */
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

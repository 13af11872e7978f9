import { join } from "node:path";
import { runInOwnProcess } from "../own-process.ts";
import { countDoubles, countUnbound, readAgentEvents } from "./agent-events.ts";
import type { CrowdLoad, CrowdResult } from "./crowd-load.ts";
import type { Service } from "./service.ts";

const loadFile = join(import.meta.dirname, "crowd-load.ts");

type Crowd = CrowdResult & {
  /** Browsers that two callers held at the same time, or that were handed out without a bind. */
  doubles: number;
};

/** Sends the callers and checks their browsers against the agents' log. */
export const sendCrowd = async (
  { target, cluster }: Service,
  load: Omit<CrowdLoad, "target">,
  signal: AbortSignal,
): Promise<Crowd> => {
  const result = await runInOwnProcess<CrowdLoad, CrowdResult>(loadFile, { target, ...load }, { signal });
  await cluster.node.flush();
  const events = await readAgentEvents(cluster.eventsFile);
  return { ...result, doubles: countDoubles(result.holds, events) + countUnbound(result.holds, events) };
};

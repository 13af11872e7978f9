import { readFile } from "node:fs/promises";
import type { AgentEvent } from "../../test/support/simulated-node/agent-event.ts";

/**
 * The time in which a caller holds a browser: from the answer until the caller sends the release, ms of the monotonic
 * clock.
 */
export type Hold = { session: string; fromMs: number; untilMs: number };

/** Reads all events that the agents have logged so far. */
export const readAgentEvents = async (file: string): Promise<AgentEvent[]> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AgentEvent);

/** Counts, by the agents' log, how often a browser was bound for another session before its holder released it. */
export const countDoubles = (holds: readonly Hold[], events: readonly AgentEvent[]): number => {
  const heldUntilMs = new Map(holds.map(({ session, untilMs }) => [session, untilMs]));
  const last = new Map<string, string>();
  let doubles = 0;
  for (const { what, browser, session = "", at } of events) {
    if (what !== "bound") continue;
    const former = last.get(browser);
    if (former !== undefined && (heldUntilMs.get(former) ?? 0) > at) doubles += 1;
    last.set(browser, session);
  }
  return doubles;
};

/** Counts the holds that no agent has bound. */
export const countUnbound = (holds: readonly Hold[], events: readonly AgentEvent[]): number => {
  const bound = new Set(events.flatMap(({ what, session }) => (what === "bound" ? [session] : [])));
  return holds.filter(({ session }) => !bound.has(session)).length;
};

import { readFile } from "node:fs/promises";
import type { AgentEvent } from "../../test/support/simulated-node/agent-event.ts";

/** A browser in a caller's hand: from its answer to the sending of its release, ms of the monotonic clock. */
export type Hold = { session: string; fromMs: number; untilMs: number };

/** All that the agents have told so far. */
export const readAgentEvents = async (file: string): Promise<AgentEvent[]> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AgentEvent);

/** Times at which a browser was given to another session while its holder had not let go of it. By the agents' own word. */
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

/** Holds of which no agent knows: handed out without a bind. */
export const countUnbound = (holds: readonly Hold[], events: readonly AgentEvent[]): number => {
  const bound = new Set(events.flatMap(({ what, session }) => (what === "bound" ? [session] : [])));
  return holds.filter(({ session }) => !bound.has(session)).length;
};

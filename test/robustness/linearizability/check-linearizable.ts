import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Finding } from "../checks/all-checks.ts";
import type { HistoryEvent } from "../history/history.ts";
import { type PoolOperations, poolOperations } from "./pool-operations.ts";

/** What tools/linearizability answers. */
const Verdicts = z.object({
  pools: z.array(
    z.object({
      pool: z.string(),
      verdict: z.enum(["ok", "illegal", "unknown"]),
      operations: z.int(),
      ms: z.int(),
      stuck: z
        .array(
          z.object({ id: z.string(), kind: z.string(), session: z.string(), browser: z.string(), outcome: z.string() }),
        )
        .default([]),
    }),
  ),
});
type Verdict = z.infer<typeof Verdicts>["pools"][number];

/** For one pool, ms; the search for an order may take for ever where many operations overlap. */
const timeoutMs = 5000;

/** Asks the program for a verdict on every pool; rejects when it fails. */
const checkPools = async (program: string, pools: PoolOperations[]): Promise<Verdict[]> => {
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  child.stdin.on("error", () => undefined); // it has ended before it read everything, and its exit code says so
  child.stdin.end(JSON.stringify({ timeoutMs, pools }));
  const [answer, [code]] = await Promise.all([text(child.stdout), exited]);
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return Verdicts.parse(JSON.parse(answer)).pools;
};

type Linearizability = {
  findings: Finding[];
  /** Pools on which there is no verdict in time. */
  undecided: number;
};

/**
 * Whether every pool behaved as one that does a single thing at a time. `program`: path of the built
 * tools/linearizability.
 */
export const checkLinearizable = async (program: string, events: HistoryEvent[]): Promise<Linearizability> => {
  const verdicts = await checkPools(program, poolOperations(events));
  const findings = verdicts
    .filter(({ verdict }) => verdict === "illegal")
    .map(({ pool, operations, stuck }): Finding => {
      const involved = new Set(stuck.map(({ session }) => session));
      const named = stuck.map(({ kind, session, browser, outcome }) =>
        `${kind} ${session} ${browser} ${outcome}`.trim(),
      );
      return {
        check: "linearizable",
        kind: "safety",
        what: `no order explains the ${operations} operations on pool ${pool}; stuck at: ${named.join("; ")}`,
        events: events.filter((event) => "session" in event && involved.has(event.session ?? "")).slice(0, 40),
      };
    });
  return { findings, undecided: verdicts.filter(({ verdict }) => verdict === "unknown").length };
};

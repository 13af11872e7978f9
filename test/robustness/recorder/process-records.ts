/**
 * What the replicas' processes tell of themselves: failures in their logs, and what they hold while nobody uses the
 * service.
 */
import { monotonicMs } from "../history/event-base.ts";
import type { Replica } from "../topology/replica.ts";
import { grownLines } from "./grown-lines.ts";
import type { Recorder } from "./recorder.ts";

export type ProcessRecords = {
  /** Writes down the failures that were logged since the last call. */
  noteFailures(): Promise<void>;
  /** Writes down what each process holds. */
  sample(): Promise<void>;
};

/** What the hook logs (hook/register.ts). */
const failure = /"msg":"test hook: (unhandled rejection|uncaught exception)"/;

export const createProcessRecords = (replicas: Replica[], recorder: Recorder): ProcessRecords => {
  const logs = replicas.map((replica) => ({ replica, grown: grownLines(replica.logPath) }));
  const identityOf = ({ role, name, program }: Replica) => ({ role, name, pid: program().pid });
  return {
    async noteFailures() {
      for (const { replica, grown } of logs)
        for (const line of (await grown()).filter((text) => failure.test(text)))
          recorder.write({
            kind: "process",
            at: monotonicMs(),
            what: "failure",
            ...identityOf(replica),
            message: line.slice(0, 2000),
          });
    },
    async sample() {
      for (const replica of replicas) {
        const sample = await replica.hook().sample();
        if (sample)
          recorder.write({ kind: "process", at: monotonicMs(), what: "sample", ...identityOf(replica), sample });
      }
    },
  };
};

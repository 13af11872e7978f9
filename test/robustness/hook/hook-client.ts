import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessSample } from "../history/run-event.ts";
import type { FreezePoint, KillPoint } from "./kill-points.ts";
import type { ControlMessage, SampleAnswer } from "./process-control.ts";

/** A process that can't answer within this time, ms, is stalled, stopped or gone. */
const answerMs = 10_000;

export type HookClient = {
  /** Undefined when no answer comes. */
  sample(): Promise<ProcessSample | undefined>;
  stall(forMs: number): void;
  /** Undefined: it shall not be killed any more. */
  killAt(point: KillPoint | undefined): void;
  /** Stops it there, until a SIGCONT. */
  freezeAt(point: FreezePoint): void;
};

/** The run's end of the channel to a process that was started with the hook and `ipc` in its stdio. */
export const hookClient = (child: ChildProcess): HookClient => {
  let lastId = 0;
  // The process may be killed in any moment; a message that does not arrive is no fault of the run.
  const send = (message: ControlMessage): void => void (child.connected && child.send(message, () => undefined));
  return {
    async sample() {
      if (!child.connected) return undefined;
      lastId += 1;
      const id = lastId;
      const answer = Promise.withResolvers<ProcessSample | undefined>();
      const onMessage = (message: unknown): void => {
        const { did, id: of, sample } = message as SampleAnswer;
        if (did === "sample" && of === id) answer.resolve(sample);
      };
      const onGone = (): void => answer.resolve(undefined);
      const given = new AbortController();
      child.on("message", onMessage);
      child.once("exit", onGone);
      send({ do: "sample", id });
      try {
        return await Promise.race([
          answer.promise,
          sleep(answerMs, undefined, { signal: given.signal }).catch(() => undefined),
        ]);
      } finally {
        given.abort();
        child.off("message", onMessage);
        child.off("exit", onGone);
      }
    },
    stall: (forMs) => send({ do: "stall", forMs }),
    killAt: (point) => send({ do: "halt-at", point: point ?? null, signal: "SIGKILL" }),
    freezeAt: (point) => send({ do: "halt-at", point, signal: "SIGSTOP" }),
  };
};

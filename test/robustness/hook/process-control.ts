/** What a run can ask of a process that it started with the hook, over the IPC channel between them. */
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import type { ProcessSample } from "../history/run-event.ts";
import { haltAt, haltPoints } from "./kill-points.ts";

export const ControlMessage = z.discriminatedUnion("do", [
  /** Answers with `SampleAnswer`. */
  z.object({ do: z.literal("sample"), id: z.int() }),
  /** Blocks the event loop. */
  z.object({ do: z.literal("stall"), forMs: z.int().min(1).max(60_000) }),
  /** The process halts itself when its round comes to the point; null: no longer. */
  z.object({
    do: z.literal("halt-at"),
    point: z.enum(haltPoints).nullable(),
    signal: z.enum(["SIGKILL", "SIGSTOP"]),
  }),
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
export type SampleAnswer = { did: "sample"; id: number; sample: ProcessSample };

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What the process holds, after a garbage collection. The channel to the run is not counted. */
const takeSample = (): ProcessSample => {
  collectGarbage();
  const resources = process.getActiveResourcesInfo();
  const count = (...names: string[]): number => resources.filter((name) => names.includes(name)).length;
  return {
    heapBytes: process.memoryUsage().heapUsed,
    sockets: count("TCPSocketWrap", "TLSWrap"),
    fds: readdirSync("/proc/self/fd").length,
    timers: count("Timeout"),
    children: count("ProcessWrap"),
  };
};

const stall = (forMs: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
};

const carryOut = (message: ControlMessage): void => {
  switch (message.do) {
    case "sample": {
      const answer: SampleAnswer = { did: "sample", id: message.id, sample: takeSample() };
      process.send?.(answer);
      return;
    }
    case "stall":
      stall(message.forMs);
      return;
    case "halt-at":
      haltAt(message.point === null ? undefined : { point: message.point, signal: message.signal });
      return;
  }
};

/** Serves the run for as long as the process lives; without a channel to it nothing happens. */
export const serveControl = (): void => {
  if (!process.send) return;
  process.on("message", (message) => {
    // Whoever was started may use the channel for messages of its own.
    const { success, data } = ControlMessage.safeParse(message);
    if (success) carryOut(data);
  });
  // The channel alone keeps no process alive.
  process.channel?.unref();
};

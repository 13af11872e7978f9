import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { AgentEvent } from "./agent-event.ts";

type EventFile = {
  add(event: AgentEvent): void;
  /** Resolves when all that was added until now is in the file. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** Longest time that an event is kept back, ms: one write for many costs the process that is measured less. */
const writeEveryMs = 50;

/** A JSON line for each event, added to the end of the file. */
export const openEventFile = (path: string): EventFile => {
  const stream = createWriteStream(path, { flags: "a" });
  let kept: AgentEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  const write = (done?: () => void): void => {
    clearTimeout(timer);
    timer = undefined;
    stream.write(kept.map((event) => `${JSON.stringify(event)}\n`).join(""), done);
    kept = [];
  };
  return {
    add(event) {
      kept.push(event);
      timer ??= setTimeout(write, writeEveryMs);
    },
    flush: () => new Promise((resolve) => write(resolve)),
    async close() {
      write();
      stream.end();
      await finished(stream);
    },
  };
};

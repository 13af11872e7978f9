import type { Readable } from "node:stream";

/** So much is read at a time, bytes, and then nothing for a while, ms: 64 MiB a second at most. */
const burstBytes = 256 * 1024;
const restMs = 4;

/** Reads a stream to its end, and no faster than the agent has time for: a process may write without end. */
export const readThrottled = (stream: Readable, take: (bytes: Buffer) => void): void => {
  let inBurst = 0;
  stream.on("data", (bytes: Buffer) => {
    take(bytes);
    inBurst += bytes.length;
    if (inBurst < burstBytes) return;
    inBurst = 0;
    stream.pause();
    setTimeout(() => stream.resume(), restMs);
  });
  stream.on("error", () => undefined);
};

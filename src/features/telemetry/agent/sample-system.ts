/** Memory and processor of the browser's processes. */
import { readFile } from "node:fs/promises";
import type { CdpConnection } from "../../../platform/cdp/cdp-connection.ts";
import type { Emit } from "./recorder.ts";

/** Time between two samples, ms. */
const everyMs = 10_000;

/** A page of memory, on all machines that Chromium runs on. */
const pageBytes = 4096;

/** Resident memory of a process, bytes. Memory that processes share counts for each. */
const memoryOf = async (pid: number): Promise<number> => {
  const text = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(text.split(" ")[1] ?? 0) * pageBytes;
};

const sample = async (cdp: CdpConnection, emit: Emit): Promise<void> => {
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo", undefined);
  const memory = await Promise.all(processInfo.map(({ id }) => memoryOf(id)));
  const usage = {
    memory_bytes: memory.reduce((sum, bytes) => sum + bytes, 0),
    cpu_seconds: processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0),
    processes: processInfo.length,
  };
  emit("system_usage", usage, { kind: "local_process", event: "SystemInfo.getProcessInfo" });
};

/** Samples until the returned function is called. */
export const sampleSystem = (cdp: CdpConnection, emit: Emit): (() => void) => {
  // A browser that has just ended answers nothing; its end is told by others.
  const run = (): void => void sample(cdp, emit).catch(() => undefined);
  const timer = setInterval(run, everyMs);
  run();
  return () => clearInterval(timer);
};

/**
 * vitest loads this before each test file: the file gets a temporary folder of its own, and fails when it leaves
 * something in it, or a process that works there. So what one file leaves is not met by the next one, which runs in the
 * same process: clocks and functions that it has replaced are put back.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, vi } from "vitest";
import { eventually } from "./eventually.ts";
import { processesAround, type SeenProcess } from "./processes.ts";

/** A browser that has been told to end needs a moment, ms. */
const endingMs = 5000;

const shared = tmpdir();
const folder = mkdtempSync(join(shared, "f-"));
// Some tests run programs as another user.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;

const textOf = ({ pid, commandLine }: SeenProcess): string => `process ${pid}: ${commandLine.slice(0, 200)}`;

/** Waits for processes that are ending. Returns those that are not, and ends them. */
const endRunning = async (): Promise<string[]> => {
  let running: SeenProcess[] = [];
  const hasEnded = async (): Promise<boolean> => {
    running = await processesAround(folder);
    return running.length === 0;
  };
  await eventually("its processes have ended", hasEnded, endingMs).catch(() => undefined);
  for (const { pid } of running) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
  return running.map(textOf);
};

afterAll(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  const processes = await endRunning();
  const files = readdirSync(folder).map((name) => `${folder}/${name}`);
  process.env.TMPDIR = shared;
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  const left = [...processes, ...files];
  if (left.length > 0) throw new Error(`left behind:\n${left.join("\n")}`);
});

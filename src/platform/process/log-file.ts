import { mkdir, open, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A child's log is cut when it is longer than this, bytes: enough to explain a crash, small enough for 110 pods. */
const maxLogBytes = 4 * 1024 * 1024;
/** How much of the log's end a cut keeps, bytes. */
const keptLogBytes = 512 * 1024;
const checkEveryMs = 15_000;

/** How much of a log's end goes into an error message: enough for a stack trace. */
const tailBytes = 4096;
const tailLines = 12;

/** Empties the log, or creates it with its folder, readable by this user only. */
export const startLog = async (path: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, "", { mode: 0o600 });
};

const readEnd = async (path: string, bytes: number): Promise<Buffer> => {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** The last lines of a log, or "" when there is none. */
export const readLogTail = async (path: string): Promise<string> => {
  const end = await readEnd(path, tailBytes).catch(() => Buffer.alloc(0));
  return end.toString("utf8").trimEnd().split("\n").slice(-tailLines).join("\n");
};

/**
 * Cuts a log that has become too long and keeps its end. The program may go on writing: it has the file open for
 * appending, so its next line follows the kept part. A line that is written during the cut is lost.
 */
export const cutLog = async (path: string): Promise<void> => {
  const { size } = await stat(path);
  if (size > maxLogBytes) await writeFile(path, await readEnd(path, keptLogBytes));
};

/** Checks the log every 15 s and cuts it when it is too long. */
export const keepLogBounded = (path: string): { stop(): void } => {
  const timer = setInterval(() => void cutLog(path).catch(() => undefined), checkEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};

import { mkdir, open, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A child's log is cut when it is longer than this, bytes: enough for the story of a crash, small enough for 110 pods. */
const maxLogBytes = 4 * 1024 * 1024;
/** What a cut keeps, bytes. */
const keptLogBytes = 512 * 1024;
const checkEveryMs = 15_000;

/** What of a log goes into an error message: enough for a stack trace. */
const tailBytes = 4096;
const tailLines = 12;

/** Makes the log empty, or creates it, readable by this user only. Its folder is made when missing. */
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
 * Cuts a log that has become too long, keeping its end. The program goes on writing: it has the file open for appending,
 * so its next line lands behind what is kept. A line written in the very moment of the cut is lost.
 */
export const cutLog = async (path: string): Promise<void> => {
  const { size } = await stat(path);
  if (size > maxLogBytes) await writeFile(path, await readEnd(path, keptLogBytes));
};

/** Looks at the log from time to time and cuts it when it is too long. */
export const keepLogBounded = (path: string): { stop(): void } => {
  const timer = setInterval(() => void cutLog(path).catch(() => undefined), checkEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
};

/**
 * The file of a video. It has no name as soon as it is open, so that nobody finds it, no reset of the browser removes it, and nothing is left
 * of it when the agent dies.
 */
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Bytes that are read at once. */
const pieceBytes = 128 * 1024;

/** Opens a new file in a folder of the agent. The caller closes it. */
export const openVideoFile = async (dataDir: string): Promise<FileHandle> => {
  const folder = await mkdtemp(join(dataDir, "replay-"));
  try {
    return await open(join(folder, "video"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The bytes at this place of the file, up to `end`; fewer than that when there are many. */
export const readPiece = async (file: FileHandle, offset: number, end: number): Promise<Buffer> => {
  const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, end - offset));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
};

/**
 * A file of what a lease leaves, as the agent keeps it until the API has stored it. The next holder of the browser must
 * learn nothing of it:
 *
 * - It has no name as soon as it is open. No reset of the browser removes it, and nothing is left of it when the agent
 *   dies.
 * - It is encrypted with a key that is in the agent's memory alone. Chromium runs as the same user, so its holder can
 *   open the agent's files by `file:///proc/…/fd/…`.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Bytes that are read at once. */
const pieceBytes = 128 * 1024;

export type UnnamedFile = {
  /** Writes bytes at the end of the file. One call at a time. Rejects when the disk is full. */
  append(bytes: Buffer): Promise<void>;
  /** The bytes at this place of what was written, up to `end`; fewer than that when there are many. */
  read(offset: number, end: number): Promise<Buffer>;
  /** Waits for what is being read, and gives the disk's room back. */
  close(): Promise<void>;
};

/**
 * AES in counter mode: any place can be read, and nothing is longer than it was. The key is of one file, which grows
 * only.
 */
const cipher = "aes-256-ctr";
const blockBytes = 16;

const counterAt = (block: number): Buffer => {
  const counter = Buffer.alloc(blockBytes);
  counter.writeBigUInt64BE(BigInt(block), 8);
  return counter;
};

const openFile = async (dataDir: string) => {
  const folder = await mkdtemp(join(dataDir, "kept-"));
  try {
    return await open(join(folder, "file"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Opens a new file in a folder of the agent. The caller closes it. */
export const openUnnamedFile = async (dataDir: string): Promise<UnnamedFile> => {
  const file = await openFile(dataDir);
  const key = randomBytes(32);
  const encrypt = createCipheriv(cipher, key, counterAt(0));
  return {
    append: (bytes) => file.appendFile(encrypt.update(bytes)),
    async read(offset, end) {
      const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, end - offset));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      const decrypt = createDecipheriv(cipher, key, counterAt(Math.floor(offset / blockBytes)));
      decrypt.update(Buffer.alloc(offset % blockBytes));
      return decrypt.update(buffer.subarray(0, bytesRead));
    },
    close: () => file.close(),
  };
};

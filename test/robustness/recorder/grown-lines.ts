import { open } from "node:fs/promises";

/**
 * Gives, at each call, the whole lines that a file has grown by since the call before; a file that is not there has
 * none.
 */
export const grownLines = (file: string): (() => Promise<string[]>) => {
  let from = 0;
  return async () => {
    const handle = await open(file).catch(() => undefined);
    if (!handle) return [];
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, size - from)), 0, undefined, from);
      const text = buffer.toString("utf8", 0, bytesRead);
      const end = text.lastIndexOf("\n") + 1;
      from += Buffer.byteLength(text.slice(0, end));
      return text.slice(0, end).split("\n").filter(Boolean);
    } finally {
      await handle.close();
    }
  };
};

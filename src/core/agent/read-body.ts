import type { IncomingMessage } from "node:http";

/** Reads a request's body, up to `maxBytes`. `tooLarge`: the rest of the body stays unread. Rejects when the caller hangs up. */
export const readBody = (request: IncomingMessage, maxBytes: number): Promise<Buffer | { tooLarge: true }> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      request.pause();
      resolve({ tooLarge: true });
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
    // "close" follows every request. Make an Error only for one that was cut off: that takes longer than all the rest.
    request.on("close", () => {
      if (!request.complete) reject(new Error("the caller hung up"));
    });
  });

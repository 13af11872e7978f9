import type { IncomingMessage } from "node:http";

/** The largest body that an agent reads. Most leases take a few hundred bytes; the longest request takes up to three bytes a character. */
export const maxBodyBytes = 512 * 1024;

/** Reads a request's body as text. `tooLarge`: the rest of the body stays unread. Rejects when the caller hangs up. */
export const readBody = (request: IncomingMessage): Promise<string | { tooLarge: true }> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBodyBytes) return;
      request.pause();
      resolve({ tooLarge: true });
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
    // "close" follows every request. Make an Error only for one that was cut off: that takes longer than all the rest.
    request.on("close", () => {
      if (!request.complete) reject(new Error("the caller hung up"));
    });
  });

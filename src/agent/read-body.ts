import type { IncomingMessage } from "node:http";

/** The largest body that an agent reads. A lease is a few hundred bytes, one with all tags that a caller may give most of this. */
export const maxBodyBytes = 1024 * 1024;

/** A request's body as text, or `too_large`, in which case the rest of it is left unread. Rejects when the caller hangs up. */
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
    // Every request ends with it; an error is only made for one that was cut off, since it takes longer than all the rest.
    request.on("close", () => {
      if (!request.complete) reject(new Error("the caller hung up"));
    });
  });

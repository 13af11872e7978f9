import type { IncomingMessage } from "node:http";
import { type Readable, Transform } from "node:stream";

/**
 * The body of a request, for someone who may stop before its end: destroyed, it lets the rest run dry, so that the
 * caller reads its answer. (The request itself would close the connection.) `whyNot`: tells after so many bytes why no
 * more are taken.
 */
export const bodyOf = (request: IncomingMessage, whyNot?: (bytes: number) => Error | undefined): Readable => {
  let bytes = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const error = whyNot?.(bytes);
      if (error) done(error);
      else done(null, chunk);
    },
  });
  // Also when nobody reads it any more.
  body.on("error", () => undefined);
  body.once("close", () => letRunDry(request));
  request.once("close", () => {
    if (!request.complete) body.destroy(new Error("the caller hung up"));
  });
  request.pipe(body);
  return body;
};

/** Nobody reads the rest of a request's body. */
export const letRunDry = (request: IncomingMessage): void => {
  request.unpipe();
  request.resume();
};

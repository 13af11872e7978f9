/** The video of a recording as an answer, or the part of it that the request asks for: players go to any place of it by parts. */

import { byteRange } from "../../core/http/byte-range.ts";
import type { Answer } from "../../core/http/route.ts";
import type { OpenReplay } from "./open-recording.ts";

/** The content type of recordings. */
export const replayType = "video/webm";

/** `range`: the header. `signal`: of the request. */
export const replayFile = (
  { bytes, read }: OpenReplay,
  { name, range, signal }: { name: string; range: string | undefined; signal: AbortSignal },
): Required<Pick<Answer, "status" | "file" | "headers">> => {
  const part = byteRange(range, bytes);
  const { start, end } = part ?? { start: 0, end: bytes };
  return {
    status: part ? 206 : 200,
    file: { body: read({ start, end }, signal), bytes: end - start, name, type: replayType },
    headers: {
      "Accept-Ranges": "bytes",
      "Cache-Control": "no-store",
      ...(part && { "Content-Range": `bytes ${start}-${end - 1}/${bytes}` }),
    },
  };
};

import type { Readable } from "node:stream";
import type { Request } from "express";
import { AppError } from "../../../platform/base/errors.ts";
import { bodyOf } from "../../../platform/net/body-of.ts";
import type { CallUpload } from "../../protocol/browser-call.ts";
import { uploadGoesOn } from "../body-deadline.ts";

/** A body that nobody here reads: it is passed on as it comes. `type`: its content type. */
export type BytesBody = { bytes: Readable; type: string };

const tooLarge = (mostBytes: number): AppError =>
  new AppError("payload_too_large", `the body is larger than ${mostBytes} bytes`);

/**
 * The body of a request as it comes. Throws `payload_too_large` and `unsupported_media_type`; reading it throws
 * `payload_too_large`, too.
 */
export const streamBody = (request: Request, { mostBytes, type }: CallUpload): BytesBody => {
  const given = request.headers["content-type"] ?? "application/octet-stream";
  if (type === "multipart/form-data" && !/^multipart\/form-data\s*;/i.test(given))
    throw new AppError("unsupported_media_type", "send the body as Content-Type: multipart/form-data");
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw tooLarge(mostBytes);
  const bytes = bodyOf(request, (count) => {
    uploadGoesOn(request);
    return count > mostBytes ? tooLarge(mostBytes) : undefined;
  });
  return { bytes, type: given };
};

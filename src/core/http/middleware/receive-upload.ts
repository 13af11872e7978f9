import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import type { Request } from "express";
import { AppError, invalidInput } from "../../../platform/base/errors.ts";
import { uploadGoesOn } from "../body-deadline.ts";
import type { UploadContract, UploadedFile } from "../route.ts";

/** A form has few fields and short ones; what is above that is no form for us. */
const formLimits = { files: 1, fields: 20, parts: 21, fieldSize: 4096, headerPairs: 20, headerSize: 8192 };

/** What headers and fields of a form may take besides the file, bytes. */
const formBytes = 256 * 1024;

/**
 * Time for the parser and the disk to take some bytes, or the end, ms. Of a form that goes on after its end the parser
 * tells the end too early, and a pipeline then waits for ever.
 */
const takeMs = 10_000;

const tooLarge = ({ mostBytes }: UploadContract): AppError =>
  new AppError("payload_too_large", `file: larger than ${mostBytes} bytes`);

/** A file without a name: it takes room until it is closed, also when this process is killed. */
const openNameless = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `upload-${randomUUID()}`);
  const handle = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** Writes a file to the disk as it comes. The caller closes the handle. */
const keep = async (file: BusboyFileStream, handle: FileHandle, upload: UploadContract): Promise<UploadedFile> => {
  const hash = createHash("sha256");
  for await (const chunk of file as AsyncIterable<Buffer>) {
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  // The parser cuts a file that is larger than its limit.
  if (file.truncated) throw tooLarge(upload);
  return { handle, sha256: hash.digest("hex") };
};

/** `isAwaited`: called with true before bytes are given, and after the last ones; with false when they are taken. */
const boundedBody = async function* (
  request: Request,
  upload: UploadContract,
  isAwaited: (is: boolean) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    uploadGoesOn(request);
    bytes += chunk.length;
    if (bytes > upload.mostBytes + formBytes) throw tooLarge(upload);
    isAwaited(true);
    yield chunk;
    isAwaited(false);
  }
  isAwaited(true);
};

/** An error of ours as it is; anything else is the parser's about the form. */
const formError = (cause: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted) return signal.reason;
  if (cause instanceof AppError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  // The disk is full, or the like.
  if (code !== undefined && !code.startsWith("ERR_")) return cause;
  return new AppError("bad_request", "the body is not a whole multipart form", { cause });
};

const parserFor = (request: Request, { mostBytes }: UploadContract) => {
  const type = request.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new AppError("unsupported_media_type", "send the body as Content-Type: multipart/form-data, with a file");
  try {
    const headers = { ...request.headers, "content-type": type };
    const isPartAFile = (field: string | undefined): boolean => field === "file";
    return Busboy({ headers, limits: { ...formLimits, fileSize: mostBytes }, isPartAFile });
  } catch (cause) {
    throw new AppError("unsupported_media_type", "the multipart form has no boundary", { cause });
  }
};

/**
 * Reads a form: its fields as texts, and its file onto the disk, never as a whole into memory. Throws
 * `unsupported_media_type`, `payload_too_large`, `bad_request` and the reason of `signal`. The caller closes the file.
 */
export const receiveUpload = async (
  request: Request,
  upload: UploadContract,
  signal: AbortSignal,
): Promise<{ fields: Record<string, string>; file: UploadedFile }> => {
  const parser = parserFor(request, upload);
  if (Number(request.headers["content-length"] ?? 0) > upload.mostBytes + formBytes) throw tooLarge(upload);
  const fields: Record<string, string> = Object.create(null);
  const problems: string[] = [];
  parser.on("field", (name, value, nameCut, valueCut) => {
    if (!upload.fields.includes(name)) return;
    if (nameCut || valueCut || name in fields) problems.push(name);
    fields[name] = value;
  });
  const handle = await openNameless();
  let received: BusboyFileStream | undefined;
  let kept: Promise<UploadedFile> | undefined;
  parser.on("file", (_name, stream) => {
    received = stream;
    kept = keep(stream, handle, upload);
    kept.catch((error: Error) => parser.destroy(error));
  });
  for (const event of ["filesLimit", "fieldsLimit", "partsLimit"] as const)
    parser.on(event, () =>
      parser.destroy(invalidInput([{ path: "file", message: "give one file and its fields, not more" }])),
    );
  const stuck = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const isAwaited = (is: boolean): void => {
    clearTimeout(timer);
    if (is) timer = setTimeout(() => stuck.reject(new Error("the parser does not go on")), takeMs);
  };
  try {
    const parsed = pipeline(boundedBody(request, upload, isAwaited), parser, { signal });
    await Promise.race([parsed, stuck.promise]);
    const file = await kept;
    if (!file) throw invalidInput([{ path: "file", message: "the form has no file in the field file" }]);
    if (problems.length > 0)
      throw invalidInput(problems.map((path) => ({ path, message: "give this once, and shorter" })));
    return { fields, file };
  } catch (error) {
    // The parser leaves the stream of a form that breaks off without an end.
    received?.destroy();
    await kept?.catch(() => undefined);
    await handle.close();
    throw formError(error, signal);
  } finally {
    clearTimeout(timer);
  }
};

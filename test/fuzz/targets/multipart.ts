import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Request } from "express";
import fc from "fast-check";
import { receiveUpload } from "../../../src/core/http/middleware/receive-upload.ts";
import { AppError, type ErrorCode } from "../../../src/platform/base/errors.ts";
import { inPieces, mutatedBytes, pieceSizes } from "../inputs/mutated-bytes.ts";
import { anyText, mutatedText } from "../inputs/mutated-text.ts";
import { type FuzzTarget, must, orRefused } from "../target.ts";

const mostBytes = 4000;
const upload = { mostBytes, type: "application/zip", description: "", fields: ["name", "__proto__"] };

type Part = { headers: string; body: Buffer };
const disposition = (name: string, file?: string): string =>
  `Content-Disposition: form-data; name="${name}"${file === undefined ? "" : `; filename="${file}"`}`;
const contents = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(mostBytes + 500).map((length) => Buffer.alloc(length, "a")),
  fc.constantFrom("\r\n--b", "--b--", "\r\n\r\n--", "\r", "\r\n-").map((text) => Buffer.from(text)),
);
const filePart = contents.map(
  (body): Part => ({ headers: `${disposition("file", "x.zip")}\r\nContent-Type: application/zip`, body }),
);
const fieldPart = fc
  .tuple(
    fc.constantFrom("name", "other", "__proto__", "constructor"),
    fc.oneof(anyText(30), fc.constant("n".repeat(5000))),
  )
  .map(([name, value]): Part => ({ headers: disposition(name), body: Buffer.from(value) }));
const oddPart = fc
  .tuple(
    mutatedText(
      fc.constantFrom(disposition("file", "x"), disposition("name"), "Content-Type: text/plain; charset=utf-16le"),
      {
        tokens: ['"', "\\", ";", "=", "filename*=utf-8''%ff", "\r\n", "Content-Transfer-Encoding: base64", ":"],
      },
    ),
    contents,
  )
  .map(([headers, body]): Part => ({ headers, body }));

const formOf = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ headers, body }) => [Buffer.from(`--b\r\n${headers}\r\n\r\n`), body, Buffer.from("\r\n")]),
    Buffer.from("--b--\r\n"),
  ]);
/** `file`: what must come out. */
type Form = { body: Buffer; file: Buffer | undefined };
const proper = fc
  .tuple(fieldPart, filePart)
  .filter(([field, { body }]) => !body.includes("\r\n--b") && !field.body.includes("\r\n--b"))
  .map(([field, part]): Form => ({ body: formOf([field, part]), file: part.body }));
const any = fc.array(fc.oneof(filePart, fieldPart, oddPart), { maxLength: 4 }).map(formOf);

type Input = Form & { type: string; sizes: number[]; length: string | undefined };

const typeText = "multipart/form-data; boundary=b";
const odd = fc
  .oneof(
    any,
    mutatedBytes(
      fc.oneof(
        proper.map(({ body }) => body),
        any,
      ),
      { tokens: ["\r\n", "--b", "--b--", "\r\n\r\n", "Content-"] },
    ),
  )
  .map((body): Form => ({ body, file: undefined }));

const rest = {
  type: fc.oneof(
    { weight: 6, arbitrary: fc.constant(typeText) },
    {
      weight: 1,
      arbitrary: mutatedText(fc.constantFrom(typeText, 'multipart/form-data; boundary="b"'), {
        tokens: [";", "=", '"', "charset=x", "boundary="],
      }),
    },
  ),
  sizes: pieceSizes,
  length: fc.constantFrom(undefined, "0", "100", "99999999", "x"),
};
const inputs: fc.Arbitrary<Input> = fc
  .tuple(fc.oneof({ weight: 1, arbitrary: proper }, { weight: 3, arbitrary: odd }), fc.record(rest))
  .map(([form, more]) => ({ ...form, ...more }));

const codes: readonly ErrorCode[] = ["bad_request", "payload_too_large", "unsupported_media_type"];
const isRefusal = (error: unknown): boolean => error instanceof AppError && codes.includes(error.code);

const check = async ({ body, file: sent, type, sizes, length }: Input): Promise<void> => {
  const headers = { "content-type": type, ...(length !== undefined && { "content-length": length }) };
  const request = Object.assign(Readable.from(inPieces(body, sizes), { objectMode: false }), {
    headers,
  }) as unknown as Request;
  const { signal } = new AbortController();
  const received = await orRefused(() => receiveUpload(request, upload, signal), isRefusal);
  if ("refused" in received) return;
  const { file, fields } = received.value;
  try {
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(2 * mostBytes), 0, 2 * mostBytes, 0);
    const kept = buffer.subarray(0, bytesRead);
    must(kept.length <= mostBytes, `a file of ${kept.length} bytes`);
    must(createHash("sha256").update(kept).digest("hex") === file.sha256, "the digest is another one");
    must(
      Object.keys(fields).every((name) => upload.fields.includes(name)),
      "a field that nobody asked for",
    );
    must(Object.getPrototypeOf(fields) === null, "fields with a prototype");
    if (sent && type === typeText) must(sent.equals(kept), "another file");
  } finally {
    await file.handle.close();
  }
};

export const target: FuzzTarget<Input> = {
  about:
    "Forms with uploads (multipart): the file as it was sent and the fields that were asked for, or one of the declared refusals.",
  inputs,
  open() {
    // In this thread alone: a form that has no end for the parser is waited for, and there are very many of them.
    const { setTimeout: usual } = globalThis;
    globalThis.setTimeout = ((call: () => void, ms: number) => usual(call, ms / 500)) as typeof setTimeout;
    return { check };
  },
};

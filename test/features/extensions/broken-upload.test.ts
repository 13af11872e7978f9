import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import express from "express";
import { afterAll, beforeAll, expect, test } from "vitest";
import { receiveUpload } from "../../../src/core/http/middleware/receive-upload.ts";
import { AppError } from "../../../src/platform/base/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { openFiles } from "../../support/open-files.ts";

const contract = {
  mostBytes: 1024 * 1024,
  type: "application/zip",
  description: "A file",
  fields: ["one", "__proto__"],
};
let server: Server;
let port: number;

/** Receives uploads and answers with the error's code, or the file's size. */
beforeAll(async () => {
  const app = express();
  app.post("/", async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort(new Error("gone")));
    try {
      const { fields, file } = await receiveUpload(request, contract, gone.signal);
      const { size } = await file.handle.stat();
      await file.handle.close();
      response.json({ fields, size });
    } catch (error) {
      response.json({ code: error instanceof AppError ? error.code : String(error) });
    }
  });
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Files of uploads that this process has open; they have no name on the disk. */
const openUploads = async (): Promise<string[]> => (await openFiles()).filter((path) => path.includes("/upload-"));

const begin = (contentType = "multipart/form-data; boundary=b") => {
  const request = httpRequest({ port, method: "POST", headers: { "content-type": contentType } });
  const answer = once(request, "response").then(async ([response]) => JSON.parse(await text(response)));
  answer.catch(() => undefined);
  request.on("error", () => undefined);
  return { request, answer };
};

const fileHead = '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n';
const send = async (body: string | Buffer, contentType?: string): Promise<unknown> => {
  const { request, answer } = begin(contentType);
  request.end(body);
  return answer;
};

// EXTENSION-8
test("a whole form is read, with its fields before and after the file", async () => {
  const field = (name: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nvalue\r\n`;
  const body = `${field("one")}${fileHead}12345\r\n${field("__proto__")}--b--\r\n`;
  expect(await send(body)).toEqual({ fields: JSON.parse('{"one":"value","__proto__":"value"}'), size: 5 });
});

// EXTENSION-8, HTTP-6
test("fields that nobody knows are ignored, however often they are there", async () => {
  const field = '--b\r\ncontent-disposition: form-data; name="other"\r\n\r\nvalue\r\n';
  expect(await send(`${field}${field}${fileHead}12345\r\n--b--\r\n`)).toEqual({ fields: {}, size: 5 });
});

// EXTENSION-8
test("a caller that hangs up in the middle of a file leaves no open file", async () => {
  const { request } = begin();
  request.write(`${fileHead}12345`);
  await eventually("the file is open", async () => (await openUploads()).length === 1);
  request.destroy();
  await eventually("the file is closed", async () => (await openUploads()).length === 0);
});

// EXTENSION-8
test.each([
  ["a form that is cut", `${fileHead}12345`, "bad_request"],
  ["a form that is cut in a header", "--b\r\ncontent-dispo", "bad_request"],
  ["an empty body", "", "bad_request"],
  ["no form at all", "{}", "bad_request"],
  ["a file that is too large", `${fileHead}${"x".repeat(1024 * 1024 + 1)}\r\n--b--\r\n`, "payload_too_large"],
  [
    "fields without end",
    `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(50)}--b--\r\n`,
    "bad_request",
  ],
  ["a header without end", `--b\r\ncontent-disposition: form-data; name="${"n".repeat(600_000)}`, "bad_request"],
  ["a preamble without end", "x".repeat(1_500_000), "payload_too_large"],
])("%s is refused, and leaves no open file", async (_what, body, code) => {
  expect(await send(body)).toEqual({ code });
  expect(await openUploads()).toEqual([]);
});

// HTTP-25
test.each(["application/json", "multipart/form-data", "multipart/mixed; boundary=b"])("%s is no form", async (type) => {
  expect(await send(`${fileHead}12345\r\n--b--\r\n`, type)).toEqual({ code: "unsupported_media_type" });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { byteRange, sendFile } from "./send-file.ts";

test("a range is read as RFC 9110 says, and one that can't be served is ignored", () => {
  const of = (header: string | undefined) => byteRange(header, 1000);
  expect(of("bytes=0-")).toEqual({ start: 0, end: 1000 });
  expect(of("bytes=10-19")).toEqual({ start: 10, end: 20 });
  expect(of("bytes=990-5000")).toEqual({ start: 990, end: 1000 });
  expect(of("bytes=-100")).toEqual({ start: 900, end: 1000 });
  expect(of("bytes=-5000")).toEqual({ start: 0, end: 1000 });
  for (const ignored of [
    undefined,
    "",
    "bytes=-",
    "bytes=1000-",
    "bytes=20-10",
    "bytes=0-1,5-6",
    "lines=0-1",
    "bytes=-0",
  ])
    expect(of(ignored)).toBeUndefined();
  expect(byteRange("bytes=0-", 0)).toBeUndefined();
});

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Serves one file; `failure` resolves with the error of sending it. */
const serve = async (file: Parameters<typeof sendFile>[1]) => {
  const failure = Promise.withResolvers<unknown>();
  const app = express();
  app.get("/file", (_request, response) => void sendFile(response, file).then(failure.resolve, failure.resolve));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stop = () => server.close();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`, failure: failure.promise };
};

async function* text(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const type = "application/zstd";

test("a file is sent as an attachment under a plain name", async () => {
  const { url } = await serve({ body: text("ab", "c"), type, name: 'my "pro\r\nfile".tar.zst', bytes: 3 });
  const answer = await fetch(url);
  expect(await answer.text()).toBe("abc");
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": type,
    "content-length": "3",
    "content-disposition": 'attachment; filename="my__pro__file_.tar.zst"',
    "x-content-type-options": "nosniff",
  });
});

test("the caller of a file whose end can't be read notices it, with and without a length", async () => {
  for (const bytes of [6, undefined]) {
    const broken = new Error("the store is gone");
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("abc");
      throw broken;
    };
    const { url, failure } = await serve({ body: body(), type, name: "x", bytes });
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
    expect(await failure).toBe(broken);
    stop?.();
  }
});

test("a caller that hangs up ends the reading", async () => {
  const ended = Promise.withResolvers<void>();
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(64 * 1024);
    } finally {
      ended.resolve();
    }
  };
  const { url, failure } = await serve({ body: endless(), type, name: "x", bytes: undefined });
  const caller = new AbortController();
  const answer = await fetch(url, { signal: caller.signal });
  await answer.body?.getReader().read();
  caller.abort();
  await ended.promise;
  expect(await failure).toBeUndefined();
});

import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Request } from "express";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { receiveUpload } from "./receive-upload.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const upload = { mostBytes: 1000, type: "application/zip", description: "", fields: [] };
const fileHead = '--b\r\nContent-Disposition: form-data; name="file"; filename="x.zip"\r\n\r\n';

const requestOf = (body: string): Request =>
  Object.assign(Readable.from([Buffer.from(body)], { objectMode: false }), {
    headers: { "content-type": "multipart/form-data; boundary=b" },
  }) as unknown as Request;

test("a form that goes on after its end, which the parser never sees, is refused in the end", async () => {
  for (const body of [`--b\r\nx\r\n\r\n--b--\r\n--b--\r\n`, `${fileHead}--b--\r\n--b--\r\n`]) {
    let isOver = false;
    const received = receiveUpload(requestOf(body), upload, new AbortController().signal).finally(() => {
      isOver = true;
    });
    received.catch(() => undefined);
    // Its file is opened first, which takes turns of its own.
    while (vi.getTimerCount() === 0 && !isOver) await nextTurn();
    vi.runAllTimers();
    await expect(received).rejects.toMatchObject({ code: "bad_request" });
  }
});

test("a form that is whole leaves no timer", async () => {
  const { file } = await receiveUpload(requestOf(`${fileHead}F\r\n--b--\r\n`), upload, new AbortController().signal);
  await file.handle.close();
  expect(vi.getTimerCount()).toBe(0);
});

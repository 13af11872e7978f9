import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ReaderStalled, writeText } from "./write-text.ts";

/** Texts without an end; `asked`: how many were asked for. */
const endless = () => {
  const state = { asked: 0 };
  const texts = async function* () {
    for (;;) {
      state.asked += 1;
      yield "some text ";
    }
  };
  return { state, texts: texts() };
};
const stalled = () => new PassThrough({ highWaterMark: 5 });
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

test("no more is asked for than the reader takes", async () => {
  const { state, texts } = endless();
  const stop = new AbortController();
  const stream = stalled();
  const written = writeText(stream, texts, { stalledMs: 60_000, signal: stop.signal });
  await soon();
  expect(state.asked).toBe(1);
  stream.read();
  await expect.poll(() => state.asked).toBe(2);
  stop.abort(new Error("the caller is gone"));
  await expect(written).rejects.toThrow("the caller is gone");
});

test("an abort ends the wait for a reader that takes nothing, and without one its time does", async () => {
  const stop = new AbortController();
  const written = writeText(stalled(), endless().texts, { stalledMs: 60_000, signal: stop.signal });
  const ended = written.catch((error: Error) => error.message);
  await soon();
  stop.abort(new Error("we stop"));
  const late = new Promise((resolve) => setTimeout(resolve, 1000, "it waits on"));
  expect(await Promise.race([ended, late])).toBe("we stop");
  const { signal } = new AbortController();
  await expect(writeText(stalled(), endless().texts, { stalledMs: 20, signal })).rejects.toThrow(ReaderStalled);
});

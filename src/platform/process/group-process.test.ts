import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { eachLine } from "./group-process.ts";

/** The lines of these chunks, when the stream ends after them. */
const linesOf = async (chunks: (string | Buffer)[], maxChars = 20): Promise<string[]> => {
  const stream = new PassThrough();
  const lines: string[] = [];
  eachLine(stream, maxChars, (line) => lines.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.once("end", resolve));
  return lines;
};

test("lines come whole, however they are cut into chunks", async () => {
  expect(await linesOf(["one\r\ntw", "o\n\nthr", "ee"])).toEqual(["one", "two", "", "three"]);
  const umlaut = Buffer.from("grün\n");
  expect(await linesOf([umlaut.subarray(0, 3), umlaut.subarray(3)])).toEqual(["grün"]);
});

test("a line that never ends keeps its beginning alone, and the next one is whole", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  eachLine(stream, 20, (line) => lines.push(line));
  const before = process.memoryUsage().heapUsed;
  const chunk = Buffer.alloc(1024 * 1024, "x");
  for (let n = 0; n < 300; n++) stream.emit("data", chunk);
  // What is beyond the bound would be 300 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
  stream.emit("data", Buffer.from("end\nnext\n"));
  expect(lines).toEqual(["x".repeat(20), "next"]);
});

test("a reader that leaves hears nothing more, and the stream runs dry", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  const leave = eachLine(stream, 20, (line) => lines.push(line));
  stream.write("one\n");
  await new Promise(setImmediate);
  leave();
  stream.end("two\nthree");
  await new Promise((resolve) => stream.once("end", resolve));
  expect(lines).toEqual(["one"]);
});

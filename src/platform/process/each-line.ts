import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/**
 * Calls `onLine` for each line of a stream, until the returned function is called: then it runs dry unread. What is beyond `maxChars` of a
 * line is dropped, so that a program which never ends its line fills no memory.
 */
export const eachLine = (stream: Readable, maxChars: number, onLine: (line: string) => void): (() => void) => {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  const take = (text: string): void => {
    const parts = text.split("\n");
    const last = parts.pop() ?? "";
    for (const part of parts) {
      const line = (begun + part).slice(0, maxChars);
      begun = "";
      onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    begun = (begun + last).slice(0, maxChars);
  };
  const onData = (chunk: Buffer): void => take(decoder.write(chunk));
  const onEnd = (): void => {
    if (begun !== "") onLine(begun);
  };
  stream.on("data", onData);
  stream.once("end", onEnd);
  return () => {
    stream.off("data", onData);
    stream.off("end", onEnd);
    stream.resume();
  };
};

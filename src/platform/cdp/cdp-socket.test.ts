import { expect, test } from "vitest";
import { createMessageFilter } from "./cdp-socket.ts";

const answer = Buffer.from("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");

/** A frame as Chromium sends it. */
const frame = (text: string, first = 0x81): Buffer => {
  const payload = Buffer.from(text);
  const long = Buffer.alloc(10);
  long[0] = first;
  long[1] = 127;
  long.writeBigUInt64BE(BigInt(payload.length), 2);
  const head = payload.length < 126 ? Buffer.from([first, payload.length]) : long;
  return Buffer.concat([head, payload]);
};

const longEvent = `{"method":"Runtime.consoleAPICalled","params":"${"x".repeat(2000)}"}`;
const longAnswer = `{"id":7,"result":"${"y".repeat(3000)}"}`;
const part = frame(longEvent, 0x01);
const kept = [answer, frame("first"), frame("second"), part, frame("end", 0x80), frame("")];
const sent = Buffer.concat([
  answer,
  frame("first"),
  frame(longEvent),
  frame("second"),
  frame(longAnswer),
  part,
  frame("end", 0x80),
  frame(""),
]);

// TELEMETRY-36
test.each([1, 2, 3, 7, 100, 1000, sent.length])(
  "what is longer is left out, and all else passed on, in chunks of %i bytes",
  (size) => {
    const starts: string[] = [];
    const filter = createMessageFilter({ maxBytes: 1000, onLong: (start) => starts.push(start) });
    const passed: Buffer[] = [];
    for (let at = 0; at < sent.length; at += size) passed.push(...filter(sent.subarray(at, at + size)));
    expect(Buffer.concat(passed).equals(Buffer.concat(kept))).toBe(true);
    expect(starts).toEqual([longEvent.slice(0, 256), longAnswer.slice(0, 256)]);
  },
);

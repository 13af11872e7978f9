import { expect, test } from "vitest";
import { methodIn, readClientFrames } from "./note-client.ts";

const mask = Buffer.from([17, 34, 51, 68]);

/** A frame as a client sends it. */
const frame = (text: string, { opcode = 1, isLast = true } = {}): Buffer => {
  const payload = Buffer.from(text);
  const { length } = payload;
  const short = length < 126 ? length : length < 65536 ? 126 : 127;
  const head = Buffer.alloc({ 126: 4, 127: 10 }[short] ?? 2);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | short;
  if (short === 126) head.writeUInt16BE(length, 2);
  if (short === 127) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
};
const ping = frame("method", { opcode: 9 });

const read = (bytes: Buffer, pieces: number): (string | undefined)[] => {
  const methods: (string | undefined)[] = [];
  const take = readClientFrames((method) => methods.push(method));
  for (let at = 0; at < bytes.length; at += pieces) take(bytes.subarray(at, at + pieces));
  return methods;
};

const long = "x".repeat(100_000);
const messages: [string, string | undefined][] = [
  ['{"id":1,"method":"Page.navigate","params":{"url":"https://a.example/"}}', "Page.navigate"],
  ['{"method":"Target.getTargets","params":{},"id":2}', "Target.getTargets"],
  ['{ "id" : 3 , "sessionId" : "S" , "method" : "Runtime.evaluate" , "params" : {} }', "Runtime.evaluate"],
  ['{"id":4,"params":{"method":"Not.this","list":[{"method":"Nor.this"}]},"method":"DOM.enable"}', "DOM.enable"],
  ['{"id":5,"params":{"text":"\\"method\\":\\"Nor.that\\" }"},"method":"Input.insertText"}', "Input.insertText"],
  [`{"id":6,"method":"Runtime.evaluate","params":{"expression":"${long}"}}`, "Runtime.evaluate"],
  [`{"id":7,"params":{"expression":"${long}"},"method":"Runtime.evaluate"}`, undefined],
  ["[1,2,3]", undefined],
  ["no JSON", undefined],
];

// TELEMETRY-19
test.each(messages)("the method of %.60s", (message, method) => {
  expect(methodIn(message.slice(0, 4096))).toBe(method);
});

test.each([1, 7, 1000, 1_000_000])("frames are read as they come, in pieces of %d bytes", (pieces) => {
  const bytes = Buffer.concat([
    ...messages.flatMap(([message]) => [frame(message), ping]),
    frame('{"id":8,"meth', { isLast: false }),
    ping,
    frame('od":"Page.reload"}', { opcode: 0 }),
    frame(""),
  ]);
  expect(read(bytes, pieces)).toEqual([...messages.map(([, method]) => method), "Page.reload", undefined]);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { closingFrame, followFrames } from "./follow-frames.ts";

/** A message as a server sends it. */
const frame = (payload: Buffer): Buffer => {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x81, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head.set([0x81, length < 65_536 ? 126 : 127]);
  head.writeUIntBE(length, head.length === 4 ? 2 : 4, head.length === 4 ? 2 : 6);
  return Buffer.concat([head, payload]);
};

/** Payloads of each of the three lengths that a head can give. */
const payloads = fc
  .oneof(fc.nat({ max: 200 }), fc.integer({ min: 125, max: 130 }), fc.integer({ min: 65_530, max: 65_540 }))
  .map((length) => Buffer.alloc(length, 0x88));

test("after each whole frame another may come, and at no other place, however the bytes arrive", () => {
  const cases = fc.record({
    frames: fc.array(payloads, { minLength: 1, maxLength: 5 }),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(cases, ({ frames: data, cuts }) => {
      const frames = data.map(frame);
      const bytes = Buffer.concat(frames);
      const ends = new Set(frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length));
      const places = [...new Set([...cuts.map((share) => Math.floor(share * bytes.length)), bytes.length])];
      const followed = followFrames();
      let at = 0;
      for (const place of places.sort((a, b) => a - b)) {
        followed.take(bytes.subarray(at, place));
        expect(followed.takesFrame()).toBe(place === 0 || ends.has(place));
        at = place;
      }
    }),
  );
});

test("no frame may come after the one that closes the connection", () => {
  const followed = followFrames();
  followed.take(closingFrame(1000, ""));
  expect(followed.takesFrame()).toBe(false);
});

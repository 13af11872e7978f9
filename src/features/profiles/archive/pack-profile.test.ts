import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { compress } from "./pack-profile.ts";

/** As a tar has them: texts among zeros. */
const chunks = Array.from({ length: 10 }, () =>
  Buffer.concat([Buffer.from(`name${"\0".repeat(90)}${randomBytes(8).toString("hex")}`), Buffer.alloc(400)]),
);

test("the same bytes become the same bytes, whether they come at once, one by one or in one piece", async () => {
  const slowly = async function* () {
    for (const chunk of chunks) {
      yield chunk;
      await sleep(2);
    }
  };
  const [atOnce, oneByOne, whole] = [
    Readable.from(chunks),
    Readable.from(slowly()),
    Readable.from([Buffer.concat(chunks)]),
  ];
  const packed = await Promise.all([atOnce, oneByOne, whole].map((source) => buffer(compress(source))));
  expect(new Set(packed.map((bytes) => bytes.toString("hex"))).size).toBe(1);
});

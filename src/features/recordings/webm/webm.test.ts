import { describe, expect, test } from "vitest";
import { element, headOf, ids, NotWebm, openElement, readHead, text } from "./ebml.ts";
import { createClusterReader } from "./read-cluster.ts";
import { webmHead } from "./write-head.ts";

const block = (relativeMs: number, isKey: boolean, bytes = 20): Buffer => {
  const head = Buffer.from([0x81, 0, 0, isKey ? 0x80 : 0]);
  head.writeInt16BE(relativeMs, 1);
  // 640 x 480, as VP8 says it.
  const key = Buffer.from("0000009d012a8002e001", "hex");
  return element(ids.simpleBlock, head, isKey ? key : Buffer.alloc(0), Buffer.alloc(bytes, 7));
};
const time = (ms: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(ms);
  return element(ids.timestamp, bytes);
};
const cluster = (ms: number, isKey: boolean): Buffer =>
  element(ids.cluster, time(ms), block(0, isKey), block(100, false), block(900, false));

const liveHead = Buffer.concat([
  element(ids.ebml, text(ids.docType, "webm")),
  openElement(ids.segment),
  element(ids.info, Buffer.alloc(300)),
  element(ids.tracks, Buffer.alloc(50)),
]);
const clusters = [cluster(0, true), cluster(1000, false), cluster(2000, true)];
const file = Buffer.concat([liveHead, ...clusters]);

const cut = (bytes: Buffer, step: number) => {
  const reader = createClusterReader();
  const found = [];
  for (let place = 0; place < bytes.length; place += step)
    found.push(...reader.add(bytes.subarray(place, place + step)));
  return { found, last: reader.end() };
};

describe("a file that is being written", () => {
  test.each([1, 7, 64, 10_000])("is cut into whole clusters, %d bytes at a time", (step) => {
    const { found, last } = cut(file, step);
    expect(found.map(({ bytes }) => bytes)).toEqual(clusters);
    expect(found.map(({ startMs, lastMs, isKey }) => [startMs, lastMs, isKey])).toEqual([
      [0, 900, true],
      [1000, 1900, false],
      [2000, 2900, true],
    ]);
    expect(found.map(({ size }) => size)).toEqual([
      { width: 640, height: 480 },
      undefined,
      { width: 640, height: 480 },
    ]);
    expect(last).toBeUndefined();
  });

  test("gives no cluster that broke off", () => {
    const { found, last } = cut(file.subarray(0, -1), 100);
    expect([found.length, last]).toEqual([2, undefined]);
  });

  test("ends a cluster without a size where the next one begins, and the last one with the file", () => {
    const open = clusters.map((whole) => Buffer.concat([openElement(ids.cluster), whole.subarray(12)]));
    const { found, last } = cut(Buffer.concat([liveHead, ...open]), 13);
    expect([...found, ...(last ? [last] : [])].map(({ bytes }) => bytes)).toEqual(open);
  });

  test.each([
    ["rubbish", Buffer.alloc(100, 0)],
    [
      "a block that is longer than its cluster",
      Buffer.concat([liveHead, element(ids.cluster, time(0), headOf(ids.simpleBlock, 500))]),
    ],
    ["something else after a cluster", Buffer.concat([file, element(ids.tags, Buffer.alloc(10)), cluster(3000, true)])],
  ])("is refused when it has %s", (_what, bytes) => {
    expect(() => cut(bytes, 50)).toThrow(NotWebm);
  });
});

test("the head says how long the file is, and where its keys are", () => {
  const sizes = clusters.map(({ length }) => length);
  const index = [
    { offset: 0, startMs: 0 },
    { offset: (sizes[0] ?? 0) + (sizes[1] ?? 0), startMs: 2000 },
  ];
  const clusterBytes = sizes.reduce((sum, size) => sum + size, 0);
  const head = webmHead({ width: 640, height: 480, durationMs: 2950, clusterBytes, index });
  const whole = Buffer.concat([head, ...clusters]);
  const ebml = readHead(whole, 0);
  const segment = readHead(whole, (ebml?.start ?? 0) + (ebml?.size ?? 0));
  expect((segment?.start ?? 0) + (segment?.size ?? 0)).toBe(whole.length);
  const parts = [];
  for (let place = segment?.start ?? 0; place < whole.length; ) {
    const part = readHead(whole, place);
    if (part?.size === undefined) throw new Error("a part has no size");
    parts.push(part);
    place = part.start + part.size;
  }
  expect(parts.map(({ id }) => id)).toEqual([ids.info, ids.tracks, ids.cues, ids.cluster, ids.cluster, ids.cluster]);
  const cues = parts[2];
  // The last number of each entry is the cluster's place in the segment.
  const placesAt = index.map((_, entry) => (cues?.start ?? 0) + ((cues?.size ?? 0) / index.length) * (entry + 1) - 8);
  const places = placesAt.map((at) => Number(whole.readBigUInt64BE(at)) + (segment?.start ?? 0));
  expect(places).toEqual([parts[3]?.offset, parts[5]?.offset]);
});

/** What is read of one cluster of a WebM file: where it ends, and when its pictures are shown. */
import { type ElementHead, ids, NotWebm, readHead } from "./ebml.ts";

/** Pixels. */
export type VideoSize = { width: number; height: number };

/** Times of the first and last picture, ms. `isKey`: a player can begin with it; then `size` is that of its pictures, if they are VP8. */
export type ClusterContent = { startMs: number; lastMs: number; isKey: boolean; size: VideoSize | undefined };

/** What may follow a cluster without a size. */
const followers: ReadonlySet<number> = new Set([ids.cluster, ids.cues, ids.tags, ids.info, ids.tracks]);

const endWithoutSize = (bytes: Buffer, start: number): number | undefined => {
  for (let place = start; place < bytes.length; ) {
    const head = readHead(bytes, place);
    if (!head) return undefined;
    if (followers.has(head.id)) return place;
    if (head.size === undefined) throw new NotWebm("a part of a cluster has no size");
    place = head.start + head.size;
  }
  return undefined;
};

/**
 * The end of a cluster; undefined when it is not there yet. One without a size ends where the next one begins, or with the file
 * (`isEnd`).
 */
export const endOfCluster = (bytes: Buffer, { start, size }: ElementHead, isEnd: boolean): number | undefined => {
  if (size === undefined) return endWithoutSize(bytes, start) ?? (isEnd ? bytes.length : undefined);
  return start + size <= bytes.length ? start + size : undefined;
};

type Block = { relativeMs: number; isKey: boolean; size?: VideoSize | undefined };

/** The part of a block that says when it is shown. A track's number has one byte here. */
const blockAt = (bytes: Buffer, start: number): Block => ({
  relativeMs: bytes.readInt16BE(start + 1),
  isKey: ((bytes[start + 3] ?? 0) & 0x80) !== 0,
});

/** Bytes of a block before its picture. */
const blockHeadBytes = 4;

/** What stands in a key picture of VP8 before its size (RFC 6386, 9.1); the size has 14 bits for each side. */
const vp8Start = Buffer.from([0x9d, 0x01, 0x2a]);

const vp8Size = (picture: Buffer): VideoSize | undefined => {
  if (picture.length < 10 || !picture.subarray(3, 6).equals(vp8Start)) return undefined;
  const [width, height] = [picture.readUInt16LE(6) & 0x3fff, picture.readUInt16LE(8) & 0x3fff];
  return width > 0 && height > 0 ? { width, height } : undefined;
};

/** The block in a part of a cluster, if there is one. Those of a group don't say whether they are keys. */
const blockIn = (bytes: Buffer, { id, start, size = 0 }: ElementHead): Block | undefined => {
  if (size < blockHeadBytes) return undefined;
  if (id === ids.simpleBlock) {
    const block = blockAt(bytes, start);
    return block.isKey ? { ...block, size: vp8Size(bytes.subarray(start + blockHeadBytes, start + size)) } : block;
  }
  const inner = id === ids.blockGroup ? readHead(bytes, start) : undefined;
  if (inner?.id !== ids.block || inner.start + blockHeadBytes > start + size) return undefined;
  return { ...blockAt(bytes, inner.start), isKey: false };
};

const timeIn = (bytes: Buffer, { id, start, size = 0 }: ElementHead): number | undefined =>
  id === ids.timestamp && size >= 1 && size <= 6 ? bytes.readUIntBE(start, size) : undefined;

/** What is in the cluster whose parts are between `start` and `end`. Throws `NotWebm`. */
export const readCluster = (bytes: Buffer, start: number, end: number): ClusterContent => {
  let ownMs = 0;
  const blocks: Block[] = [];
  for (let place = start; place < end; ) {
    const part = readHead(bytes, place);
    if (part?.size === undefined || part.start + part.size > end) throw new NotWebm("a cluster is damaged");
    ownMs = timeIn(bytes, part) ?? ownMs;
    const block = blockIn(bytes, part);
    if (block) blocks.push(block);
    place = part.start + part.size;
  }
  const timeOf = (block: Block | undefined): number => ownMs + (block?.relativeMs ?? 0);
  const [first] = blocks;
  const { isKey, size } = first ?? { isKey: false };
  return { startMs: timeOf(first), lastMs: timeOf(blocks.at(-1)), isKey, size };
};

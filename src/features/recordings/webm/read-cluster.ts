/** What is read of one cluster of a WebM file: where it ends, and when its pictures are shown. */
import { type ElementHead, ids, NotWebm, readHead } from "./ebml.ts";

/** Pixels. */
export type VideoSize = { width: number; height: number };

/**
 * Times of the first and last picture, ms. `isKey`: a player can begin with it; then `size` is that of its pictures, if
 * they are VP8.
 */
type ClusterContent = { startMs: number; lastMs: number; isKey: boolean; size: VideoSize | undefined };

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
 * The end of a cluster; undefined when it is not there yet. One without a size ends where the next one begins, or with
 * the file (`isEnd`).
 */
const endOfCluster = (bytes: Buffer, { start, size }: ElementHead, isEnd: boolean): number | undefined => {
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
const readCluster = (bytes: Buffer, start: number, end: number): ClusterContent => {
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

// Cuts a WebM file that is still being written into its clusters: a cluster is the least that can be played. What comes
// before the first one is passed over.
//
//   add(bytes) ──► bytes wait until a cluster is whole ──► Cluster

/** A whole cluster. */
export type Cluster = ClusterContent & { bytes: Buffer };

type ClusterReader = {
  /** The clusters that are whole with these bytes. Throws `NotWebm`. */
  add(bytes: Uint8Array): Cluster[];
  /**
   * The cluster at the end of the file, which may have no length of its own; undefined when there is none or it is not
   * whole.
   */
  end(): Cluster | undefined;
};

/** A second of video has a few hundred kilobytes. */
const mostWaiting = 16 * 1024 * 1024;

/** How many bytes an element before the first cluster has. A segment is entered: its parts come next. */
const passedBytes = ({ id, size, offset, start }: ElementHead): number => {
  if (id === ids.segment) return start - offset;
  if (size === undefined) throw new NotWebm("a part has no size");
  return start - offset + size;
};

/** Nothing read yet. */
export const createClusterReader = (): ClusterReader => {
  let waiting = Buffer.alloc(0);
  /** Bytes of a part before the first cluster that have not come yet. */
  let passing = 0;
  let hasBegun = false;

  const take = (length: number): Buffer => {
    const taken = waiting.subarray(0, length);
    waiting = waiting.subarray(length);
    return taken;
  };
  const pass = (): void => {
    passing -= take(Math.min(passing, waiting.length)).length;
  };
  const clusterAt = (head: ElementHead, isEnd: boolean): Cluster | undefined => {
    hasBegun = true;
    const end = endOfCluster(waiting, head, isEnd);
    return end === undefined ? undefined : { ...readCluster(waiting, head.start, end), bytes: take(end) };
  };
  /** Passes over what is no cluster. Undefined when the next one is not whole. */
  const next = (isEnd: boolean): Cluster | undefined => {
    for (;;) {
      pass();
      const head = passing > 0 ? undefined : readHead(waiting, 0);
      if (!head) return undefined;
      if (head.id === ids.cluster) return clusterAt(head, isEnd);
      // What follows the last cluster is no video.
      if (hasBegun) throw new NotWebm("there is something between two clusters");
      passing = passedBytes(head);
    }
  };
  return {
    add(bytes) {
      waiting = Buffer.concat([waiting, bytes]);
      const clusters: Cluster[] = [];
      for (let cluster = next(false); cluster; cluster = next(false)) clusters.push(cluster);
      if (waiting.length > mostWaiting) throw new NotWebm("a cluster is too large");
      return clusters;
    },
    end() {
      try {
        return next(true);
      } catch {
        return undefined;
      }
    },
  };
};

/**
 * The video of one recording on its way into the blob store, in parts of whole clusters:
 *
 *   bytes of the agent ──► clusters ──► a part when there are enough of them, or after half a minute ──► blob
 *                             │
 *                             └──► index ──at the end──► what stands before the parts
 *
 * So a recording that breaks off anywhere can be played up to there, and whoever goes on with it knows from its parts
 * what is stored.
 */

import type { BlobStore } from "../../platform/blobs/blob-store.ts";
import { whileUnavailable } from "../../platform/redis/or-unavailable.ts";
import { mostRecordingSeconds } from "./agent/api.ts";
import type { StoredVideo } from "./recording-store.ts";
import { headKey, partKey } from "./recordings.ts";
import { NotWebm } from "./webm/ebml.ts";
import { type Cluster, createClusterReader, type VideoSize } from "./webm/read-cluster.ts";
import { type IndexedCluster, webmHead } from "./webm/write-head.ts";

/**
 * Bytes of a part, and the time after which a smaller one is stored, ms. Each recording has so many bytes in memory.
 */
const partBytes = 512 * 1024;
const partMs = 30_000;

/** Time between two places of the index at least, ms; what a player jumps to. */
const indexMs = 1000;

/** How long the last picture is shown, ms. */
const lastPictureMs = 50;

export type VideoParts = {
  /** Bytes of the agent's file that were added. */
  received(): number;
  /** Learns what is stored. The file is added from its begin again then. */
  restore(): Promise<void>;
  /** Adds bytes of the file, in order. Throws `NotWebm` for what is no video, or too large. */
  add(bytes: Uint8Array): Promise<void>;
  /**
   * Stores the rest, and what stands before the parts. Undefined when there is no picture that a player can begin with.
   */
  finish(): Promise<StoredVideo | undefined>;
};

type VideoPartsDeps = { blobs: BlobStore } & { id: string; mostBytes: number };

const createIndex = () => {
  const index: IndexedCluster[] = [];
  let bytes = 0;
  let lastMs = 0;
  let size: VideoSize | undefined;
  const latest = (mostRecordingSeconds + 60) * 1000;
  return {
    bytes: () => bytes,
    clusters: (): readonly IndexedCluster[] => index,
    /** Of the pictures. */
    size: () => size,
    durationMs: () => Math.min(latest, lastMs + lastPictureMs),
    add(cluster: Cluster): void {
      const { startMs, isKey } = cluster;
      size ??= cluster.size;
      const before = index.at(-1);
      if (isKey && startMs <= latest && (!before || startMs >= before.startMs + indexMs))
        index.push({ offset: bytes, startMs });
      bytes += cluster.bytes.length;
      lastMs = Math.max(lastMs, cluster.lastMs);
    },
  };
};

const one = async function* (bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
};

/** Nothing stored yet. `signal`: ends all waiting for the store. */
export const createVideoParts = ({ id, mostBytes, blobs }: VideoPartsDeps, signal: AbortSignal): VideoParts => {
  const index = createIndex();
  const parts: number[] = [];
  const reader = createClusterReader();
  let received = 0;
  /** Bytes of clusters that are stored, and that were added again since. */
  let restored = 0;
  let repeated = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let storedMs = performance.now();
  /** Something came that is no video: what follows it is none of this video either. */
  let isDamaged = false;
  const patience = { maxPauseMs: 5000, signal };

  const store = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const part = Buffer.concat(waiting);
    await whileUnavailable(() => blobs.put(partKey(id, parts.length), one(part), { signal }), patience);
    parts.push(part.length);
    waiting = [];
    waitingBytes = 0;
    storedMs = performance.now();
  };
  const take = async (cluster: Cluster): Promise<void> => {
    if (repeated < restored) {
      repeated += cluster.bytes.length;
      return;
    }
    if (index.bytes() + cluster.bytes.length > mostBytes) throw new NotWebm("the video is too large");
    index.add(cluster);
    // A copy: the cluster's own bytes are a view of more.
    waiting.push(Buffer.from(cluster.bytes));
    waitingBytes += cluster.bytes.length;
    if (waitingBytes >= partBytes || performance.now() - storedMs > partMs) await store();
  };
  const restorePart = async (part: number): Promise<boolean> => {
    const blob = await whileUnavailable(() => blobs.get(partKey(id, part), { signal }), patience);
    if (!blob) return false;
    const again = createClusterReader();
    for await (const bytes of blob.body) for (const cluster of again.add(bytes)) index.add(cluster);
    const last = again.end();
    if (last) index.add(last);
    parts.push(blob.bytes);
    return true;
  };
  return {
    received: () => received,
    async restore() {
      while (await restorePart(parts.length));
      restored = index.bytes();
    },
    async add(bytes) {
      received += bytes.length;
      try {
        for (const cluster of reader.add(bytes)) await take(cluster);
      } catch (error) {
        isDamaged = true;
        throw error;
      }
    },
    async finish() {
      const last = isDamaged ? undefined : reader.end();
      if (last && index.bytes() + last.bytes.length <= mostBytes) await take(last);
      await store();
      const size = index.size();
      if (!size) return undefined;
      const video = { ...size, durationMs: index.durationMs(), clusterBytes: index.bytes(), index: index.clusters() };
      const head = webmHead(video);
      await whileUnavailable(() => blobs.put(headKey(id), one(head), { signal }), patience);
      return { headBytes: head.length, parts };
    },
  };
};

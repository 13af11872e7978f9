/**
 * Cuts a WebM file that is still being written into its clusters: a cluster is the least that can be played. What comes before the first
 * one is passed over.
 *
 *   add(bytes) ──► bytes wait until a cluster is whole ──► Cluster
 */
import { type ElementHead, ids, NotWebm, readHead } from "./ebml.ts";
import { type ClusterContent, endOfCluster, readCluster } from "./read-cluster.ts";

/** A whole cluster. */
export type Cluster = ClusterContent & { bytes: Buffer };

type ClusterReader = {
  /** The clusters that are whole with these bytes. Throws `NotWebm`. */
  add(bytes: Uint8Array): Cluster[];
  /** The cluster at the end of the file, which may have no length of its own; undefined when there is none or it is not whole. */
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

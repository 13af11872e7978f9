/**
 * The beginning of a WebM file of VP8 whose clusters are known: with its length, and an index. So a player can show how
 * long it is and go to any place of it, which it can't in the file as it was written.
 */
import { element, float, headOf, ids, text, whole } from "./ebml.ts";
import { videoTracks } from "./video-track.ts";

/** A cluster's place among the clusters, bytes, and the time of its first picture, ms. */
export type IndexedCluster = { offset: number; startMs: number };

/** `clusterBytes`: of all clusters. `index`: those with which a player can begin. */
type WebmVideo = {
  width: number;
  height: number;
  durationMs: number;
  clusterBytes: number;
  index: readonly IndexedCluster[];
};

const program = "browserpool";

const ebmlHead = element(
  ids.ebml,
  whole(ids.ebmlVersion, 1),
  whole(ids.ebmlReadVersion, 1),
  whole(ids.ebmlMaxIdLength, 4),
  whole(ids.ebmlMaxSizeLength, 8),
  text(ids.docType, "webm"),
  whole(ids.docTypeVersion, 4),
  whole(ids.docTypeReadVersion, 2),
);

/** Times are in milliseconds. */
const info = (durationMs: number): Buffer =>
  element(
    ids.info,
    whole(ids.timestampScale, 1e6),
    float(ids.duration, durationMs),
    text(ids.muxingApp, program),
    text(ids.writingApp, program),
  );

/** All numbers have one length, so the index's own length depends on how many entries it has alone. */
const cues = (index: readonly IndexedCluster[], clustersAt: number): Buffer =>
  element(
    ids.cues,
    ...index.map(({ offset, startMs }) =>
      element(
        ids.cuePoint,
        whole(ids.cueTime, startMs),
        element(ids.cueTrackPositions, whole(ids.cueTrack, 1), whole(ids.cueClusterPosition, clustersAt + offset)),
      ),
    ),
  );

/** What stands before the clusters. */
export const webmHead = (video: WebmVideo): Buffer => {
  const { durationMs, clusterBytes, index } = video;
  const described = Buffer.concat([info(durationMs), videoTracks("V_VP8", video)]);
  const clustersAt = described.length + cues(index, 0).length;
  const body = Buffer.concat([described, cues(index, clustersAt)]);
  return Buffer.concat([ebmlHead, headOf(ids.segment, body.length + clusterBytes), body]);
};

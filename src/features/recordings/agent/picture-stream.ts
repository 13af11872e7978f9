/**
 * Pictures on their way to the encoder: Matroska (RFC 9559) of JPEGs, each in a cluster of its own with the time at which it came. So the
 * encoder needs no clock, which may be set while it runs, and begins with a picture as soon as it is whole.
 */
import { element, ids, openElement, text, whole } from "../webm/ebml.ts";
import type { VideoSize } from "../webm/read-cluster.ts";
import { videoTracks } from "../webm/video-track.ts";

/** What stands before the first picture. Pictures of another size than this may follow. */
export const streamHead = (size: VideoSize): Buffer =>
  Buffer.concat([
    element(ids.ebml, text(ids.docType, "matroska"), whole(ids.docTypeVersion, 4), whole(ids.docTypeReadVersion, 2)),
    openElement(ids.segment),
    element(ids.info, whole(ids.timestampScale, 1e6)),
    videoTracks("V_MJPEG", size),
  ]);

/** Track 1, no difference to the cluster's time, a key. */
const blockHead = Buffer.from([0x81, 0, 0, 0x80]);

/** A JPEG that is shown from this time on, whole ms since the first one. */
export const streamPicture = (jpeg: Buffer, ms: number): Buffer =>
  element(ids.cluster, whole(ids.timestamp, ms), element(ids.simpleBlock, blockHead, jpeg));

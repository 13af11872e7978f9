/**
 * Pictures on their way to the encoder: Matroska (RFC 9559) of JPEGs, each in a cluster of its own with the time at which it came. So the
 * encoder needs no clock, which may be set while it runs, and begins with a picture as soon as it is whole.
 */
import { element, ids, openElement, text, whole } from "../../domain/webm/ebml.ts";

/** Pixels. */
type Size = { width: number; height: number };

/** What stands before the first picture. Pictures of another size than this may follow. */
export const streamHead = ({ width, height }: Size): Buffer =>
  Buffer.concat([
    element(ids.ebml, text(ids.docType, "matroska"), whole(ids.docTypeVersion, 4), whole(ids.docTypeReadVersion, 2)),
    openElement(ids.segment),
    element(ids.info, whole(ids.timestampScale, 1e6)),
    element(
      ids.tracks,
      element(
        ids.trackEntry,
        whole(ids.trackNumber, 1),
        whole(ids.trackUid, 1),
        whole(ids.trackType, 1),
        text(ids.codecId, "V_MJPEG"),
        element(ids.video, whole(ids.pixelWidth, width), whole(ids.pixelHeight, height)),
      ),
    ),
  ]);

/** Track 1, no difference to the cluster's time, a key. */
const blockHead = Buffer.from([0x81, 0, 0, 0x80]);

/** A JPEG that is shown from this time on, whole ms since the first one. */
export const streamPicture = (jpeg: Buffer, ms: number): Buffer =>
  element(ids.cluster, whole(ids.timestamp, ms), element(ids.simpleBlock, blockHead, jpeg));

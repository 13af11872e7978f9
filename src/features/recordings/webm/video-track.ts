import { element, ids, text, whole } from "./ebml.ts";
import type { VideoSize } from "./read-cluster.ts";

/** The tracks of a file with one video, number 1. `codec`: its id, e.g. `V_VP8`. */
export const videoTracks = (codec: string, { width, height }: VideoSize): Buffer =>
  element(
    ids.tracks,
    element(
      ids.trackEntry,
      whole(ids.trackNumber, 1),
      whole(ids.trackUid, 1),
      whole(ids.flagLacing, 0),
      text(ids.codecId, codec),
      whole(ids.trackType, 1),
      element(ids.video, whole(ids.pixelWidth, width), whole(ids.pixelHeight, height)),
    ),
  );

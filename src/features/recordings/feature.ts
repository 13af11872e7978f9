import type { Feature } from "../../core/api/feature.ts";
import { downloadRecordingRoute, listRecordingsRoute, startRecordingRoute, stopRecordingRoute } from "./routes.ts";
import { mountRecordingView } from "./view-page.ts";

/** Videos of sessions. */
export const recordings = {
  routes: [startRecordingRoute, listRecordingsRoute, downloadRecordingRoute, stopRecordingRoute],
  mount: mountRecordingView,
} satisfies Feature;

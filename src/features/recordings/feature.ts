import type { Feature } from "../../core/api/feature.ts";
import { downloadReplayRoute, listReplaysRoute, startReplayRoute, stopReplayRoute } from "./routes.ts";
import { mountReplayView } from "./view-page.ts";

/** Videos of sessions. */
export const recordings = {
  routes: [startReplayRoute, listReplaysRoute, downloadReplayRoute, stopReplayRoute],
  mount: mountReplayView,
} satisfies Feature;

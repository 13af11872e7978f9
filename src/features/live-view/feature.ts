import type { Feature } from "../../core/api/feature.ts";
import { mountLiveView } from "./mount-live-view.ts";

/** The page in which people watch and use a session's browser. */
export const liveView = {
  mount: mountLiveView,
} satisfies Feature;
